"""A busy service keeps its number through what is no load: new leaders, edits, rollouts, moments of unreadiness."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle
from typing import Any

import pytest

from llmservice.autoscaling.counters import Histogram
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.signals.source import Target
from tests.scenarios.scaled_world import FakeSource, ScaledWorld
from tests.scenarios.world import NAMESPACE
from tests.unit.autoscaling.builders import counters

BOUNDS = {"minReplicas": 2, "maxReplicas": 32}


@dataclass
class BusyEngines(FakeSource):
    """Engines that share a steady load, a little unevenly, and count what they did since they were started."""

    done: dict[str, tuple[int, float]] = field(default_factory=dict)
    share: Any = field(default_factory=lambda: cycle((0.7, 1.2, 0.9, 1.3, 1.1, 0.8, 1.0)))

    def work(self, pods: Sequence[Manifest]) -> None:
        """Ten seconds: forty requests of 1000 + 200 tokens among these pods."""
        for pod in pods:
            name, busy = pod["metadata"]["name"], next(self.share) / len(pods)
            requests, inter_token_seconds = self.done.get(name, (0, 0.0))
            now = round(40 * busy)
            self.done[name] = requests + now, inter_token_seconds + now * 200 * (0.02 + 0.02 * busy)

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        return {target: self._reading(target.pod) for target in targets}

    def _reading(self, pod: str) -> Reading:
        requests, inter_token_seconds = self.done.get(pod, (0, 0.0))
        counted = counters(
            self.now,
            running=30.0,
            prompt_tokens=requests * 1000.0,
            generated_tokens=requests * 200.0,
            finished=float(requests),
            finished_prompt_tokens=requests * 1000.0,
            finished_generated_tokens=requests * 200.0,
            ttft=Histogram(count=requests, total=0.2 * requests, bounds=(1.0, 5.0), counts=(requests, requests)),
            inter_token_latency=Histogram(count=requests * 200.0, total=inter_token_seconds),
        )
        return Reading(counters=counted, kv_use=0.1, slots=256)


@dataclass
class BusyWorld(ScaledWorld):
    """One service under the Learned law that has served a steady load for twenty minutes."""

    source: BusyEngines = field(default_factory=BusyEngines)

    def served(self, **autoscaling: Any) -> int:
        """Serve for twenty minutes; returns the replicas that run then."""
        self.apply(spec__autoscaling=BOUNDS | autoscaling)
        self.reconcile()
        self.settle()
        self.serve(120)
        return self.replicas

    def serve(self, rounds: int = 1) -> list[int]:
        """The number after each of so many rounds under the load."""
        numbers = []
        for _ in range(rounds):
            self.source.work(self.pods())
            self.tick()
            numbers.append(self.replicas)
        return numbers

    def mark(self, pod: Manifest, *, ready: bool) -> None:
        """The pod becomes ready, or ceases to be, now; its engine has run since it was created."""
        created, now = "2026-01-01T00:00:00Z", self.time.strftime("%Y-%m-%dT%H:%M:%SZ")

        def become(live: Manifest) -> None:
            live["status"]["conditions"] = [{"type": "Ready", "status": str(ready), "lastTransitionTime": now}]
            live["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": created}}
            live["metadata"]["creationTimestamp"] = created

        self.cluster.edit(ref_of(pod), become)

    @property
    def cold_starts(self) -> tuple[int, ...]:
        """The cold starts that are remembered."""
        return self.evaluation.memory.demand.cold_starts

    def pause(self) -> None:
        """Nobody leads for longer than a memory is continued; then somebody does."""
        self.time += timedelta(seconds=90)
        self.source.work(self.pods())
        self.lead()


@pytest.mark.parametrize("new_leader", [True, False])
def test_a_pod_that_is_unready_for_a_moment_changes_nothing(new_leader: bool) -> None:
    world = BusyWorld()
    before = world.served()
    one = world.pods()[0]
    world.mark(one, ready=False)
    if new_leader:
        world.lead()
    numbers = world.serve(2)
    world.mark(one, ready=True)
    assert max(numbers + world.serve(6)) == before
    assert world.cold_starts == ()


def test_a_new_leader_after_a_pause_goes_on_with_the_number_that_runs() -> None:
    world = BusyWorld()
    before = world.served()
    world.pause()
    assert max(world.serve(12)) <= before + 1
    assert "forecast" in {vote.step for vote in world.evaluation.decision.trace}


def with_checkpoint(world: BusyWorld, change: Callable[[str], str]) -> None:
    """The checkpoint in the status becomes another one."""

    def edit(live: Manifest) -> None:
        live["status"]["autoscaling"]["checkpoint"] = change(live["status"]["autoscaling"]["checkpoint"])

    world.cluster.edit(Ref("LLMService", NAMESPACE, "chat"), edit)


UNREADABLE_CHECKPOINTS: Mapping[str, Callable[[str], str]] = {
    "of another version": lambda text: re.sub(r"/\d+:", "/0:", text),
    "damaged": lambda text: text[:-40],
}


@pytest.mark.parametrize("change", UNREADABLE_CHECKPOINTS.values(), ids=UNREADABLE_CHECKPOINTS)
def test_a_checkpoint_that_cannot_be_read_is_dropped_with_one_line_and_moves_no_replica(
    change: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    world = BusyWorld()
    before = world.served()
    with_checkpoint(world, change)
    world.pause()
    with caplog.at_level("INFO"):
        numbers = world.serve(12)
    (line,) = (record.getMessage() for record in caplog.records if "checkpoint" in record.getMessage())
    assert line.startswith("ml/chat: ")
    assert numbers[:3] == [before] * 3
    assert max(numbers) <= before + 1
    assert world.evaluation.memory.capacity.line


@pytest.mark.parametrize("new_leader", [True, False])
def test_edited_arguments_change_nothing_at_once(new_leader: bool) -> None:
    """With a new leader: today's operator renders other arguments than the one before it."""
    world = BusyWorld()
    before = world.served()
    world.apply(spec__autoscaling=BOUNDS, spec__engineOptions={"args": ["--no-such-flag"]})
    world.reconcile()
    if new_leader:
        world.pause()
    numbers = world.serve(12)
    assert numbers[:3] == [before] * 3
    assert max(numbers) <= before + 1


def test_another_policy_changes_nothing_at_once() -> None:
    world = BusyWorld()
    before = world.served(minReplicas=10, policy="Threshold", targets={"runningRequests": 60})
    world.apply(spec__autoscaling=BOUNDS)
    assert max(world.serve(12)) <= before


def test_a_replica_that_waits_for_the_room_of_its_predecessor_is_no_shortage() -> None:
    world = ScaledWorld().scaled(minimum=2)
    old = Ref("Pod", NAMESPACE, world.pods()[0]["metadata"]["name"])
    world.cluster.edit(old, lambda live: live["metadata"].update(finalizers=["example.com/it-drains"]))
    world.cluster.remove(old)
    words = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words}
    world.start_pod(phase="Pending", podIP="", conditions=[condition], containerStatuses=[])
    for _ in range(3):
        world.round()
    assert world.condition("ScalingActive")["reason"] == "AtMinimum"
    assert world.events() == []
    for _ in range(13):
        world.round()
    assert world.condition("ScalingActive")["reason"] == "PodsPending"


def test_an_idle_service_with_one_possible_number_asks_for_nothing() -> None:
    world = ScaledWorld().scaled(minimum=2, maximum=2)
    world.tick(3)
    assert world.condition("ScalingActive")["reason"] == "AtMinimum"
