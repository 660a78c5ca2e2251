"""What is read about pods in trouble: a few at once, in turns by namespace, and remembered within a budget."""

import asyncio
import sys

import pytest

from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.pod_insight import PodInsight
from llmservice.reconcilers.remembered_logs import RememberedLogs
from tests.in_memory_cluster.cluster import InMemoryCluster

LONG = "x" * 2000


def a_crashed_pod(namespace: str, name: str) -> Manifest:
    end = {"exitCode": 1, "message": LONG, "containerID": f"containerd://{name}"}
    state = {"name": "engine", "state": {"terminated": end}, "restartCount": 1}
    metadata = {"namespace": namespace, "name": name, "uid": f"{namespace}-{name}", "creationTimestamp": "2026-01-01"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"containerStatuses": [state]}}


class SlowNodes(InMemoryCluster):
    """Logs that come when `gate` opens; `asked` is who asked."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.asked = asyncio.Event(), list[str]()

    async def log_tail(
        self,
        ref: Ref,
        container: str,  # noqa: ARG002
        *,
        previous: bool,  # noqa: ARG002
        max_bytes: int = 65_536,  # noqa: ARG002
    ) -> str:
        self.asked.append(ref.namespace)
        await self.gate.wait()
        return f"log of {ref.name}"


async def test_nodes_that_do_not_answer_one_tenant_keep_nobody_else_from_reading() -> None:
    cluster = SlowNodes()
    insight = PodInsight(cluster)
    async with asyncio.TaskGroup() as group:
        for number in range(100):
            group.create_task(insight.read([a_crashed_pod("hostile", f"p-{number}")]))
        await asyncio.sleep(0.01)
        assert cluster.asked == ["hostile"] * 6
        victim = group.create_task(insight.read([a_crashed_pod("victim", "p")]))
        await asyncio.sleep(0.01)
        assert cluster.asked[6:] == ["victim"]
        cluster.gate.set()
    assert victim.result().log_tails == {"p": "log of p"}
    assert len(cluster.asked) == 101


async def test_who_gets_no_turn_in_time_asks_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.reconcilers.pod_insight._ANSWERED_SECONDS", 0.02)
    cluster = SlowNodes()
    insight = PodInsight(cluster)
    pods = [a_crashed_pod("hostile", f"p-{number}") for number in range(40)]
    read = await asyncio.gather(*(insight.read([pod]) for pod in pods))
    assert {one.requeue_seconds for one in read} == {20.0}


@pytest.mark.parametrize("text", ["x" * 65_536, "😀" + "x" * 65_535])
def test_remembered_logs_stay_within_their_budget_whatever_they_are_made_of(text: str) -> None:
    logs = RememberedLogs(at_most=4 * 2**20)
    for number in range(500):
        logs.put("ml", (f"pod-{number}", "1"), (0.0, text + str(number)))
    kept = [found for number in range(500) if (found := logs.get("ml", (f"pod-{number}", "1")))]
    held = sum(sys.getsizeof(found[1]) for found in kept)
    assert 3 * 2**20 < held <= 4 * 2**20


def test_a_tenant_with_a_thousand_logs_pushes_out_their_own_and_nobody_elses() -> None:
    logs = RememberedLogs(at_most=2**20)
    logs.put("victim", ("pod", "1"), (0.0, "why it ended"))
    for number in range(1000):
        logs.put("hostile", (f"pod-{number}", "1"), (0.0, "x" * 65_536 + str(number)))
    assert logs.get("victim", ("pod", "1")) == (0.0, "why it ended")
    assert logs.get("hostile", ("pod-999", "1")) is not None


def test_logs_that_could_not_be_read_are_within_the_budget_too() -> None:
    logs = RememberedLogs(at_most=2**20)
    for number in range(4_000):
        logs.put(f"team-{number}", ("pod", "1"), (0.0, None))
    assert sum(logs.get(f"team-{number}", ("pod", "1")) is not None for number in range(4_000)) == 2**20 // 512
