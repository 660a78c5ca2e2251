"""Engines that the autoscaler does not read: a few pods at a time, and every service in its turn."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from llmservice.converging.pod_readings import PodReadings, ReadFailure, Reading
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.engines.metric_names import MetricNames
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.stall_reading import UnscaledEngines
from llmservice.signals.source import Target
from tests.scenarios.world import NAMESPACE, World, a_ready_pod
from tests.unit.autoscaling.builders import counters


class Source:
    """Answers at once; `asked` are the pods that were asked for at a time."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        self.asked.append([target.pod for target in targets])
        return dict.fromkeys(targets, Reading(counters=counters(1.0)))


def a_world(*names: str, **changes: Any) -> World:
    """One with services of two replicas each."""
    world = World()
    for name in names:
        world.apply(name, spec__replicas=2, **changes)
        world.reconcile(name)
        for number in range(2):
            pod = a_ready_pod(f"{name}-{number}", name, world.replica_set(name))
            pod["status"]["podIP"] = "10.0.0.1"
            world.cluster.create(pod)
        world.reconcile(name)
    return world


def noted(engines: UnscaledEngines) -> dict[str, int]:
    """What a round notes: the services, and how many readings of each."""
    found: dict[str, int] = {}

    def note(body: Manifest, _: Sequence[ScaledPod], readings: PodReadings) -> None:
        found[body["metadata"]["name"]] = len(readings)

    asyncio.run(engines.read(note))
    return found


def the_engines(world: World, source: Source, names: MetricNames | None = MetricNames()) -> UnscaledEngines:  # noqa: B008
    return UnscaledEngines(cache=world.cache, sources={"Pods": source}, metric_names=lambda *_: names)


def test_all_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.reconcilers.stall_reading._AT_ONCE", 4)
    source = Source()
    assert noted(the_engines(a_world("a", "b", "c"), source)) == {"a": 2, "b": 2, "c": 2}
    assert [len(pods) for pods in source.asked] == [4, 2]


def test_what_there_was_no_time_for_comes_first_in_the_next_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.reconcilers.stall_reading._AT_ONCE", 2)
    source = Source()
    engines = the_engines(a_world("a", "b", "c"), source)
    engines._read_last = 1
    noted(engines)
    assert [pods[0][0] for pods in source.asked] == ["b", "c", "a"]


def test_autoscaled_and_suspended_ones_and_those_of_unknown_versions_are_not_read() -> None:
    source = Source()
    assert noted(the_engines(a_world("a", spec__suspend=True), source)) == {}
    scaled = a_world("a")
    scaled.apply("a", spec__autoscaling={"maxReplicas": 4})
    assert noted(the_engines(scaled, source)) == {}
    assert noted(the_engines(a_world("a"), source, None)) == {}
    assert source.asked == []


def test_a_service_without_pods_is_noted_so_that_old_ones_are_forgotten() -> None:
    world, source = a_world("a"), Source()
    for number in range(2):
        world.cluster.remove(Ref("Pod", NAMESPACE, f"a-{number}"))
    assert noted(the_engines(world, source)) == {"a": 0}
    assert source.asked == []


def test_a_service_that_goes_while_its_pods_are_read_is_not_noted() -> None:
    world = a_world("a", "b")

    class Leaving(Source):
        async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
            world.cluster.remove(Ref("LLMService", NAMESPACE, "a"))
            return await Source.read(self, targets)

    assert noted(the_engines(world, Leaving())) == {"b": 2}


def test_pods_are_those_of_the_moment_at_which_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.reconcilers.stall_reading._AT_ONCE", 2)
    world = a_world("a", "b")

    class Leaving(Source):
        async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
            if not self.asked:
                world.cluster.remove(Ref("Pod", NAMESPACE, "b-1"))
            return await Source.read(self, targets)

    assert noted(the_engines(world, Leaving())) == {"a": 2, "b": 1}
