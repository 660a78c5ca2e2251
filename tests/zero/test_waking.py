"""A service that sleeps, and many who want it: each is answered once a replica is there, or refused at once."""

import asyncio
import time
import urllib.request

import pytest

from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import address_of, ask
from tests.zero.clients import ask_at_once, overtaken, told
from tests.zero.conftest import of
from tests.zero.service import SLOTS, a_sleeper, activators_in_path, await_sleep, sampled, starts

pytestmark = [pytest.mark.zero, pytest.mark.sandbox]

BOUND = 500
"""Requests of one service that an activator holds."""


@pytest.fixture
def asleep(kube: Kube, models: str) -> Kube:  # noqa: ARG001  (the claim must be bound)
    """A service that has served, and sleeps."""
    kube.create(a_sleeper())
    kube.wait_ready("chat")
    body = await_sleep(kube)
    assert body["status"]["replicaSummary"] == "0/0"
    return kube


def page(operator: Operator) -> str:
    """The operator's metrics."""
    url = f"http://127.0.0.1:{operator.environment['LLMSERVICE_METRICS_PORT']}/metrics"
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())


def test_two_hundred_clients_wake_it_once_and_all_are_answered(asleep: Kube, operator: Operator) -> None:
    idle = asleep.get("LLMService", "chat")["status"]["autoscaling"]["idle"]  # type: ignore[index]
    assert {"since", "afterSeconds", "startSeconds"} <= idle.keys()
    before = starts(asleep)
    outcomes = asyncio.run(ask_at_once(address_of(asleep), 200, spread_seconds=1.0))
    print(f"200 clients at zero: {told(outcomes)}; overtaken by many: {overtaken(outcomes, 8 * SLOTS)}")  # noqa: T201
    assert [each.status for each in outcomes] == [200] * 200
    assert starts(asleep) - before == 1
    asleep.wait_ready("chat")
    metrics = page(operator)
    assert sampled(metrics, "llmservice_wakes_total", asleep) == 1
    assert sampled(metrics, "llmservice_asleep", asleep) == 0


def test_beyond_the_bound_requests_are_refused_at_once_and_the_others_answered(asleep: Kube, activators: Kube) -> None:
    of(activators, 1)
    asleep.wait(lambda: activators_in_path(asleep) == 1 or None, lambda: asleep.list("EndpointSlice"), 30)
    time.sleep(2)
    outcomes = asyncio.run(ask_at_once(address_of(asleep), 2000, tokens=1))
    print(f"2,000 requests at a bound of {BOUND}: {told(outcomes)}")  # noqa: T201
    assert sum(each.status == 200 for each in outcomes) >= BOUND
    refused = [each for each in outcomes if each.status != 200]
    assert {(each.status, each.code) for each in refused} <= {(503, "held_too_many")}
    assert len(refused) > BOUND


def test_a_busy_service_has_no_activator_in_its_path(asleep: Kube, operator: Operator) -> None:
    ask(asleep, seconds=120)
    asleep.wait(lambda: activators_in_path(asleep) == 0 or None, lambda: asleep.list("EndpointSlice"), 30)
    time.sleep(2)
    before = sampled(page(operator), "llmservice_held_answered_total", asleep)
    outcomes = asyncio.run(ask_at_once(address_of(asleep), 100, spread_seconds=5.0))
    after = sampled(page(operator), "llmservice_held_answered_total", asleep)
    print(f"100 requests to a busy service: {told(outcomes)}; passed on by activators before {before}, after {after}")  # noqa: T201
    assert [each.status for each in outcomes] == [200] * 100
    assert after == before == 1, "the one that woke it"


@pytest.mark.parametrize("grace_seconds", [0, None], ids=["killed", "drained"])
def test_an_activator_that_goes_meanwhile(asleep: Kube, activators: Kube, grace_seconds: int | None) -> None:
    """Killed, it takes what it held with it; drained, it sends on all that it has."""

    async def with_one_less() -> list[object]:
        asking = asyncio.create_task(ask_at_once(address_of(asleep), 100, spread_seconds=0.5))
        await asyncio.sleep(1.0)
        pod = activators.list("Pod", "app.kubernetes.io/component=activator")[0]["metadata"]["name"]
        await asyncio.to_thread(activators.delete, "Pod", pod, grace_seconds=grace_seconds)
        return list(await asking)

    outcomes = asyncio.run(with_one_less())
    how = "drained" if grace_seconds is None else "killed"
    print(f"100 clients, an activator {how}: {told(outcomes)}")  # type: ignore[arg-type]  # noqa: T201
    answered = sum(each.status == 200 for each in outcomes)  # type: ignore[attr-defined]
    assert answered == 100 if grace_seconds is None else answered > 0
