"""What devices cost, from an administrator's price to `llmservice cost`, on a real API server with a real engine."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from llmservice.cli import main
from llmservice.cluster.own_namespace import USUAL
from llmservice.objects.names import CATALOGUE
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import on_gpu
from tests.cluster.target import Target

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]


@pytest.fixture
def prices(cluster: Kube) -> Iterator[None]:
    """What an administrator writes into the catalogue."""
    system = cluster.within(USUAL)
    cluster.await_end(USUAL)  # of the tests before, which do not wait
    cluster.kubectl("create", "namespace", USUAL, check=False)
    text = "prices: {currency: EUR, per_hour: {L4: 0.8}, time_zone: Europe/Berlin}"
    body: Body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CATALOGUE}}
    system.patch("ConfigMap", CATALOGUE, {**body, "data": {"accelerators.yaml": text}}, how="apply")
    yield
    system.delete("ConfigMap", CATALOGUE)


def cost(kube: Kube, devices: int) -> Body | None:
    """`status.cost`, once it is about so many devices."""
    said: Body = ((kube.get("LLMService", "chat") or {}).get("status") or {}).get("cost") or {}
    return said if said.get("devices") == devices and said.get("perHour") else None


def the_verb(target: Target, kube: Kube) -> list[Body]:
    """What `llmservice cost` prints for programs."""
    environment = target.operator_environment()
    where = ["--context", environment.get("LLMSERVICE_CONTEXT", ""), "--kubeconfig", environment.get("KUBECONFIG", "")]
    done = CliRunner().invoke(main, ["cost", "-n", kube.namespace, "-o", "json", *where], prog_name="llmservice")
    found: list[Body] = json.loads(done.stdout)
    return found


def of_two(rows: list[Body]) -> list[Body] | None:
    """The rows, once two devices are held."""
    return rows if [row["devices"] for row in rows] == [2] else None


@pytest.mark.usefixtures("models", "prices")
def test_devices_are_counted_and_an_operator_that_is_restarted_goes_on(
    kube: Kube, target: Target, operator: Operator
) -> None:
    kube.create(on_gpu(replicas=1))
    said = kube.wait(lambda: cost(kube, 1), lambda: kube.get("LLMService", "chat"), seconds=150)
    assert (said["currency"], said["perHour"], said["timeZone"]) == ("EUR", "0.80", "Europe/Berlin")
    assert said["days"][0]["devices"][0]["accelerator"] == "L4"
    kube.wait_ready("chat")
    operator.stop()
    operator.start()
    kube.patch("LLMService", "chat", {"spec": {"replicas": 2}})
    later = kube.wait(lambda: cost(kube, 2), lambda: kube.get("LLMService", "chat"), seconds=240)
    assert later["perHour"] == "1.60"
    assert _held(later) > _held(said)
    # What was learned of the first start may change the template: a third replica holds a device for a moment then.
    (row,) = kube.wait(lambda: of_two(the_verb(target, kube)), lambda: the_verb(target, kube), seconds=240)
    assert (row["perHour"], row["currency"]) == (1.6, "EUR")
    assert row["spent"] > 0


def _held(said: Body) -> int:
    """The device-seconds of today."""
    (used,) = said["days"][0]["devices"]
    return sum(int(used[f"{state}Seconds"]) for state in ("busy", "idle", "starting", "unknown"))
