"""A replica that starts keeps its node, by annotations on the pod alone."""

from datetime import timedelta
from typing import Any

from llmservice.errors import Conflict
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.world import NAMESPACE, World

POD = Ref("Pod", NAMESPACE, "chat-0")
KEYS = {"karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict", "llmservice.dev/starting"}


def a_loading_world(**changes: Any) -> World:
    """One whose only replica was placed a minute ago and loads its model."""
    world = World().serving(**changes)
    set_ready(world, "False")
    world.time += timedelta(minutes=1)
    world.writes()
    return world


def set_ready(world: World, status: str) -> None:
    def change(live: Manifest) -> None:
        live["spec"]["nodeName"] = "node-1"
        live["status"]["conditions"] = [{"type": "Ready", "status": status}]

    world.cluster.edit(POD, change)


def annotations(world: World) -> dict[str, str]:
    found: dict[str, str] = world.get("Pod", "chat-0")["metadata"].get("annotations") or {}
    return found


def test_a_start_costs_two_writes_to_its_pod() -> None:
    world = a_loading_world()
    world.reconcile()
    world.reconcile()
    assert set(annotations(world)) == KEYS
    set_ready(world, "True")
    world.reconcile()
    world.reconcile()
    assert annotations(world) == {}
    assert world.writes().count("apply Pod chat-0") == 2


def test_what_others_write_on_the_pod_stays() -> None:
    world = a_loading_world()
    world.cluster.edit(POD, lambda live: live["metadata"].update(annotations={"team": "ml"}))
    world.reconcile()
    set_ready(world, "True")
    world.reconcile()
    assert annotations(world) == {"team": "ml"}


def test_annotations_of_the_spec_decide() -> None:
    world = a_loading_world(spec__pod={"annotations": {"karpenter.sh/do-not-disrupt": "false"}})
    world.reconcile()
    assert "apply Pod chat-0" not in world.writes()


def test_a_pod_that_cannot_be_written_holds_nothing_up() -> None:
    world = a_loading_world()
    world.fail("apply", "Pod", Conflict("NotFound", "it is gone"))
    world.reconcile()
    assert world.condition()["reason"] == "Loading"
