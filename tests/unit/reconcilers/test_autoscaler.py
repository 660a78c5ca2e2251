"""The loop itself: rounds, waking, and what a defect may not do. The steps of one service are told by scenarios."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from llmservice.converging.pod_readings import PodReadings, ReadFailure, Reading
from llmservice.objects.references import Ref
from llmservice.reconcilers.scaling.scaled_services import ScaledService
from llmservice.signals.source import Target
from tests.scenarios.scaled_world import RUNNING, FakeSource, ScaledWorld

HOURS = 3600.0


@asynccontextmanager
async def running(world: ScaledWorld) -> AsyncIterator[None]:
    """The loop runs, after its first round, with hours between two rounds."""
    world.autoscaler.scaler.period_seconds = HOURS
    rounds = asyncio.Event()
    world.autoscaler.measured = lambda _: rounds.set()
    task = asyncio.create_task(world.autoscaler.run())
    await asyncio.wait_for(rounds.wait(), 5)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(world: ScaledWorld, replicas: int) -> None:
    """Let the loop work until so many replicas are asked for."""
    async with asyncio.timeout(5):
        while world.replicas != replicas:  # noqa: ASYNC110  (nothing tells)
            await asyncio.sleep(0)


@pytest.fixture
def world() -> ScaledWorld:
    """A service at one replica; made outside of any event loop, as its hands are."""
    return ScaledWorld().scaled()


async def test_an_edited_service_is_scaled_at_once(world: ScaledWorld) -> None:
    async with running(world):
        world.apply(spec__autoscaling={"minReplicas": 3, "maxReplicas": 4})
        await until(world, 3)


async def test_a_status_write_wakes_nobody(world: ScaledWorld) -> None:
    async with running(world):
        world.source.asked = []
        world.cluster.edit(
            Ref("LLMService", "ml", "chat"), lambda live: live.update(status={**live["status"], "replicas": 7})
        )
        for _ in range(20):
            await asyncio.sleep(0)
        assert world.source.asked == []


async def test_a_term_begins_with_what_the_status_holds(world: ScaledWorld) -> None:
    before = world.state
    async with running(world):
        after = world.state
        assert after is not before
        assert after.report == before.report


class Deaf(FakeSource):
    """A source with a defect."""

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        raise KeyError(targets)


async def test_a_defect_does_not_end_the_term(world: ScaledWorld, caplog: pytest.LogCaptureFixture) -> None:
    world.autoscaler.sources = {"Pods": Deaf(), "Prometheus": world.prometheus}
    async with running(world):
        world.autoscaler.sources = {"Pods": world.source, "Prometheus": world.prometheus}
        world.apply(spec__autoscaling={"minReplicas": 2, "maxReplicas": 4})
        await until(world, 2)
    assert "defect in the autoscaler" in caplog.text


class Interrupted(FakeSource):
    """A source during whose reading somebody edits a resource."""

    world: ScaledWorld

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        self.world.apply(spec__suspend=True, spec__autoscaling={"maxReplicas": 8, **RUNNING})
        return await super().read(targets)


def test_what_is_suspended_while_its_pods_are_read_is_left_alone(world: ScaledWorld) -> None:
    source = Interrupted(running=40.0)
    source.world = world
    world.autoscaler.sources = {"Pods": source}
    world.round()
    assert world.replicas == 1


class Slow(FakeSource):
    """A source that answers once it is let go."""

    gate: asyncio.Event

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        await self.gate.wait()
        return await super().read(targets)


async def test_a_slow_source_keeps_none_back_that_are_read_from_another(world: ScaledWorld) -> None:
    world.apply("other", spec__autoscaling={"maxReplicas": 4, "source": "Prometheus"})
    await world.reconciler(("ml", "other"))
    slow = Slow()
    slow.gate = asyncio.Event()
    world.autoscaler.sources = {"Pods": world.source, "Prometheus": slow}
    world.source.running = 12.0
    task = asyncio.create_task(world.autoscaler.scale([*world.autoscaler.services.keys()]))
    await until(world, 3)
    assert not task.done()
    slow.gate.set()
    await task


def test_a_defect_in_one_service_keeps_no_other_from_being_scaled(
    world: ScaledWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.apply("other", spec__autoscaling={"minReplicas": 2, "maxReplicas": 4})
    world.reconcile("other")
    world.scale(1, "somebody", "other")
    scale = world.autoscaler.scaler.scale

    async def broken(service: ScaledService, readings: PodReadings) -> None:
        if service.key[1] == "chat":
            raise ZeroDivisionError
        await scale(service, readings)

    monkeypatch.setattr(type(world.autoscaler.scaler), "scale", lambda _, *arguments: broken(*arguments))
    world.round()
    assert world.get("Deployment", "other")["spec"]["replicas"] == 2
    assert "ml/chat: defect in the autoscaler" in caplog.text
