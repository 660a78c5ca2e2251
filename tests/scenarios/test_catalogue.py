"""An overlay comes and goes: refused resources recover at once, running pods never change."""

import asyncio
from typing import Any

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.controllers.triggers import use_catalogue
from llmservice.reconcilers.llmservice import STATUS_AFTER_SECONDS
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey
from tests.scenarios.world import NAMESPACE, World

IMAGES = "{cpu: r.example/engine:9, cuda: r.example/engine:9}"
VERSION = f"{{images: {IMAGES}, user: 7, group: 7, max_model_len: 8, max_num_seqs: 1}}"
OVERLAY = {
    "engines.yaml": f"llamacpp: {{default: '9', versions: {{'9': {VERSION}}}}}",
    "accelerators.yaml": "accelerators: [{name: L5, vendor: nvidia, memory_gib: 30, labels: {gfd: [NVIDIA-L5]}}]",
}


async def use(world: World, data: dict[str, str] | None) -> list[ServiceKey]:
    """The overlay is there from now on (None: it is gone); returns what is to be looked at again."""
    queue: WorkQueue[ServiceKey] = WorkQueue()
    planner = world.reconciler.plan
    assert isinstance(planner, CataloguePlanner)
    use_catalogue(planner, world.cache, queue, overlaid(data) if data is not None else load_catalogue())
    return [await queue.take() for _ in range(len(queue))]


@pytest.mark.parametrize(
    "changes",
    [{"spec__gpu": {"type": "L5"}}, {"spec__engineOptions": {"version": "9"}}],
    ids=["accelerator", "version"],
)
async def test_a_resource_without_a_row_is_reconciled_when_the_row_appears(changes: dict[str, Any]) -> None:
    world = World()
    world.apply(**changes)
    await world.reconciler((NAMESPACE, "chat"))
    assert world.condition("Stalled")["status"] == "True"
    assert await use(world, OVERLAY) == [(NAMESPACE, "chat")]
    assert await world.reconciler((NAMESPACE, "chat")) == STATUS_AFTER_SECONDS
    await world.reconciler((NAMESPACE, "chat"))
    assert world.condition("Stalled") == {}
    assert world.exists("Deployment")


def test_a_new_default_changes_no_running_pod_until_the_resource_is_edited() -> None:
    world = World().serving()
    before = world.get("Deployment")["spec"]["template"]
    _use_now(world, OVERLAY)
    world.reconcile()
    assert world.writes() == ["apply_status LLMService chat"]
    assert "Deployment.spec.template.spec.containers.engine.image" in world.condition("UpdateAvailable")["message"]
    world.apply(spec__maxNumSeqs=2)
    world.reconcile()
    after = world.get("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert after == "r.example/engine:9" != before["spec"]["containers"][0]["image"]


def test_a_removed_overlay_changes_no_running_pod() -> None:
    world = World()
    _use_now(world, OVERLAY)
    world.serving(spec__gpu={"type": "L5"})
    _use_now(world, None)
    world.reconcile()
    assert world.writes() == []
    assert (world.condition()["reason"], world.condition("UpdateAvailable")) == ("Ready", {})


def _use_now(world: World, data: dict[str, str] | None) -> None:
    asyncio.run(use(world, data))
