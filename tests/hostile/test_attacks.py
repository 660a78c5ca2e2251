"""What a tenant with rights on LLMServices and an image of their own can do to others: nothing that they notice."""

import urllib.request
from collections.abc import Iterator

import pytest

from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service
from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.services import as_large_as_it_gets, largest_admitted, played, with_dashes
from tests.hostile.steps import (
    asked_of,
    assert_asked,
    assert_read,
    at_once,
    changing,
    flooded,
    start_again,
    wait_played,
)

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile]

CROWD = 1000
TWO_ROUNDS = 2.5 * ROUND_SECONDS


def test_arguments_on_which_a_pattern_hangs(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant:
        count, letters = largest_admitted(tenant, with_dashes)
        with tenants.attacked(f"{count} arguments of {letters} letters on which a pattern backtracks"):
            tenant.create(with_dashes("chat", count, letters))
            tenants.hold(30)
    assert_read(tenants)


def test_an_operator_started_again_beside_such_arguments(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant:
        tenant.create(with_dashes("chat", *largest_admitted(tenant, with_dashes)))
        start_again(tenants)
        with tenants.attacked("the same, there before the operator starts", since_start=True):
            tenants.hold(10)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("dashes-in-a-label", "a metrics page with a label of 60 kB on which a pattern backtracks"),
        ("hash-line", "a metrics page of 4 MiB in one line, with a `#`"),
        ("location", "a redirect whose Location is not UTF-8"),
        ("endless", "a metrics page without an end"),
        ("interim", "interim responses (102) without an end"),
        ("silence", "an engine that takes the request and says nothing"),
    ],
)
def test_an_answer_of_an_engine(tenants: Neighbourhood, answer: str, what: str) -> None:
    with tenants.tenant() as tenant, tenants.attacked(f"{what}, from 4 pods"):
        tenant.create(played("chat", f"ready {answer}", replicas=4))
        wait_played(tenants, tenant, 4)
        tenants.hold(TWO_ROUNDS)
        assert_asked(tenants, tenant)
    assert_read(tenants)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("dashes", "last words of 16 kB and a log line of 64 kB on which a pattern backtracks"),
        ("not-utf-8", "last words and log lines that are not UTF-8"),
    ],
)
def test_the_log_of_a_crashed_engine(tenants: Neighbourhood, words: str, what: str) -> None:
    with tenants.tenant() as tenant, tenants.attacked(f"{what}, from 12 pods of 3 services"):
        for number in range(3):
            tenant.create(played(f"chat-{number}", f"crash {words}", replicas=4))
        wait_played(tenants, tenant, 12)
        tenant.wait_reason("chat-0", "CrashLooping", seconds=60)
        tenants.hold(10)


def test_150_pods_that_answer_4_mib(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked("150 pods that answer 4 MiB each"):
        tenant.create(played("chat", "ready large", replicas=150))
        wait_played(tenants, tenant, 150)
        tenants.hold(2 * TWO_ROUNDS)
        assert_asked(tenants, tenant)
    assert_read(tenants)


def test_520_pods_that_drip(tenants: Neighbourhood) -> None:
    """A pod that comes after them is read all the same, and those before them are read in every other round."""
    with tenants.tenant() as tenant, tenants.attacked("520 pods that answer a byte now and then"):
        tenant.create(played("chat", "ready drip", replicas=520))
        wait_played(tenants, tenant, 520)
        tenants.victim.create(played("late", "ready honest"))
        asked, rounds = asked_of(tenants, tenants.victim, "steady"), 6
        tenants.hold(rounds * ROUND_SECONDS)
        assert_asked(tenants, tenant)
        assert asked_of(tenants, tenants.victim, "steady") - asked >= rounds // 2
        assert tenants.read_of("late") == ""
        assert_read(tenants)
    tenants.victim.delete("LLMService", "late")


def test_a_metrics_server_that_answers_60_mib(tenants: Neighbourhood) -> None:
    """A real Prometheus that scrapes 12 pods of 20,000 series, and hands it all on: our PodMonitor would bound it."""
    with tenants.tenant() as tenant:
        with tenants.attacked("60 MiB of one metric in the metrics server"):
            tenant.create(played("chat", "ready many-series", replicas=12, source="Prometheus"))
            wait_played(tenants, tenant, 12)
            tenants.metrics_targets()
            tenants.hold(2 * TWO_ROUNDS)
            assert tenants.read_of("charted") == ""
            query = f"{tenants.prometheus}/api/v1/query?query=vllm:num_requests_running"
            with urllib.request.urlopen(query) as answer:  # noqa: S310
                size = len(answer.read())
            assert size > 55 * 2**20, f"the answer has {size >> 20} MiB: the test shows nothing"
        tenants.clear(tenant)
        tenants.metrics_targets()
    assert_read(tenants)


def test_100_services_as_large_as_it_gets(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant:
        count, letters = largest_admitted(tenant, as_large_as_it_gets)
        kilobytes = (4 * count * letters + 255_000) // 1000
        with tenants.attacked(f"100 LLMServices of {kilobytes} kB"):
            at_once(lambda number: tenant.create(as_large_as_it_gets(f"chat-{number}", count, letters)), range(100))
            tenants.hold(20)
        start_again(tenants)
        with tenants.attacked("the same, there before the operator starts", since_start=True):
            tenants.hold(20)
    assert_read(tenants)


def test_1000_services_made_at_once(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked(f"{CROWD:,} LLMServices made at once"):
        at_once(lambda number: tenant.create(a_tiny_service(f"chat-{number}", suspend=True)), range(CROWD))
    assert_read(tenants)


@pytest.fixture(scope="module")
def crowd(neighbourhood: Neighbourhood) -> Iterator[Kube]:
    """A namespace with a thousand services."""
    with neighbourhood.tenant() as tenant:
        at_once(lambda number: tenant.create(a_tiny_service(f"chat-{number}", suspend=True)), range(CROWD))
        neighbourhood.victim.create(a_tiny_service("last", suspend=True))
        neighbourhood.victim.wait_ready("last", "Suspended", seconds=300)
        neighbourhood.victim.delete("LLMService", "last")
        yield tenant


def test_1000_services_that_change_all_the_time(tenants: Neighbourhood, crowd: Kube) -> None:
    with tenants.attacked(f"{CROWD:,} LLMServices that change all the time"), changing(crowd, CROWD):
        tenants.hold(40)
    assert_read(tenants)


@pytest.mark.parametrize(
    ("clients", "how", "attack"),
    [
        (100, "ask", "100 clients that ask for /metrics again and again"),
        (100, "guess", "100 clients that ask for /metrics with invented tokens"),
        (500, "stay", "500 connections to /metrics on which a request begins and never ends"),
    ],
)
@pytest.mark.usefixtures("crowd")
def test_clients_of_the_metrics_beside_1000_services(
    tenants: Neighbourhood, clients: int, how: str, attack: str
) -> None:
    with tenants.attacked(f"{attack}, at {CROWD:,} LLMServices"), flooded(tenants, clients, how):
        tenants.hold(30)


def test_an_operator_started_again_beside_1000_services_that_change(tenants: Neighbourhood, crowd: Kube) -> None:
    with changing(crowd, CROWD):
        start_again(tenants)
        with tenants.attacked(f"{CROWD:,} LLMServices that change before and after a start", since_start=True):
            tenants.hold(20)
    assert_read(tenants)
