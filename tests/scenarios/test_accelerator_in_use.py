"""A replica with a device, from the start of its engine to what its status says."""

import asyncio
from typing import Any

import pytest

from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.start_logs import StartLogs
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.scenarios.world import NAMESPACE, World
from tests.unit.engines.test_start_logs import LOGS

POD = Ref("Pod", NAMESPACE, "chat-0")
ON_CPU = (LOGS / "llamacpp-b11312-cpu-verbosity-4.txt").read_text("utf-8")
ON_GPU = (LOGS / "llamacpp-2026-05-cuda.txt").read_text("utf-8")


def a_world(log: str | None, **gpu: Any) -> World:
    """A rolled out service on one L4, whose engine has started and written this."""
    world = World()
    world.apply(spec__replicas=1, spec__gpu={"type": "L4", **gpu})
    world.reconcile()
    world.roll_out()
    if log is not None:
        world.cluster.logs = {(POD, "engine", False): log}
    started(world, "2026-01-01T00:00:00Z")
    world.reconcile()
    return world


def started(world: World, at: str) -> None:
    def change(live: Manifest) -> None:
        running = {"running": {"startedAt": at}}
        live["status"]["containerStatuses"] = [{"name": "engine", "started": True, "ready": True, "state": running}]

    world.cluster.edit(POD, change, subresource="status")


def shown(world: World) -> tuple[str, str, str]:
    """Ready, its reason, and AcceleratorInUse."""
    ready = world.condition()
    return ready["status"], ready["reason"], world.condition("AcceleratorInUse").get("status", "")


@pytest.mark.parametrize(
    ("log", "gpu", "expected"),
    [
        (ON_GPU, {}, ("True", "Ready", "True")),
        (ON_CPU, {}, ("False", "AcceleratorNotUsed", "False")),
        (ON_CPU, {"verify": False}, ("True", "Ready", "False")),
        ("a server of another kind\n", {}, ("True", "Ready", "Unknown")),
        (None, {}, ("True", "Ready", "Unknown")),
    ],
)
def test_ready_waits_for_an_engine_that_leaves_its_device_idle(
    log: str | None, gpu: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    assert shown(a_world(log, **gpu)) == expected


def test_ready_waits_for_a_log_that_is_being_read_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.reconcilers.start_logs._PATIENCE_SECONDS", 0.0)
    world = World()
    world.apply(spec__replicas=1, spec__gpu={"type": "L4"})
    world.reconcile()
    world.roll_out()
    started(world, "2026-01-01T00:00:00Z")

    async def passes() -> list[tuple[str, str, str]]:
        answered, seen = asyncio.Event(), list[tuple[str, str, str]]()

        async def head(*_: object, **__: object) -> str:
            await answered.wait()
            return ON_CPU

        monkeypatch.setattr(InMemoryCluster, "log_head", head)
        for _ in range(2):
            await world.reconciler((NAMESPACE, "chat"))
            seen.append(shown(world))
        answered.set()
        for _ in range(5):
            await asyncio.sleep(0)
        await world.reconciler((NAMESPACE, "chat"))
        return [*seen, shown(world)]

    waits = ("False", "Starting", "Unknown")
    assert asyncio.run(passes()) == [waits, waits, ("False", "AcceleratorNotUsed", "False")]


def test_an_engine_that_found_its_device_after_a_restart_is_ready() -> None:
    world = a_world(ON_CPU)
    assert world.condition("Stalled")["reason"] == "AcceleratorNotUsed"
    assert world.get("LLMService")["status"]["start"]["backend"] == "cpu"
    world.cluster.logs = {(POD, "engine", False): ON_GPU}
    started(world, "2026-01-01T00:05:00Z")
    world.reconcile()
    assert shown(world) == ("True", "Ready", "True")
    assert world.condition("Stalled") == {}
    start = world.get("LLMService")["status"]["start"]
    assert (start["offloadedLayers"], start["layers"], start["kvCacheTokens"]) == (66, 66, 131_072)


def test_neither_the_next_pass_nor_a_restarted_operator_reads_the_log_again() -> None:
    world = a_world(ON_GPU)
    before = world.get("LLMService")["status"]
    asked: list[str] = []
    world.cluster.before = lambda verb, _: asked.append(verb)
    world.reconcile()
    world.reconciler.starts = StartLogs(world.cluster)
    world.reconcile()
    assert (asked, world.get("LLMService")["status"]) == ([], before)


def test_without_a_device_there_is_no_condition() -> None:
    world = World().serving()
    assert world.condition("AcceleratorInUse") == {}
    assert "start" not in world.get("LLMService")["status"]
