"""A node that is shut down: its replicas are deleted, all at once, and no other pod is."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.test_leaving_nodes import a_world, told
from tests.scenarios.world import NAMESPACE, World, a_ready_pod

SAID = "node is shutting down"


def shut_down(world: World, *nodes: str) -> None:
    condition = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": SAID}
    for node in nodes:
        world.cluster.edit(Ref("Node", "", node), lambda live: live.update(status={"conditions": [condition]}))


def deleted(world: World) -> list[str]:
    return [write for write in world.writes() if write.startswith("delete")]


def test_its_replicas_are_deleted_and_told_of_in_one_event() -> None:
    world, watch = a_world()
    shut_down(world, "node-1")
    asyncio.run(watch.look())
    assert deleted(world) == ["delete Pod chat-1"]
    (message,) = told(world)
    assert "node-1" in message
    assert "shutdownGracePeriod" in message


def test_all_go_at_once_because_the_kubelet_ends_them_all_at_once() -> None:
    world, watch = a_world()
    shut_down(world, "node-0", "node-1")
    asyncio.run(watch.look())
    assert deleted(world) == ["delete Pod chat-0", "delete Pod chat-1"]


def test_what_is_deleted_is_left_alone_afterwards() -> None:
    world, watch = a_world()
    keep_deleted_pods(world)
    shut_down(world, "node-1")
    for _ in range(3):
        asyncio.run(watch.look())
    assert deleted(world) == ["delete Pod chat-1"]
    assert len(told(world)) == 1


def test_a_new_leader_deletes_what_it_finds() -> None:
    world, watch = a_world()
    shut_down(world, "node-1")
    asyncio.run(watch.look(tell=False))
    assert deleted(world) == ["delete Pod chat-1"]


def test_a_strangers_pod_with_our_label_is_not_deleted() -> None:
    world, watch = a_world()
    stranger = a_ready_pod("stranger", "chat", None)
    stranger["spec"]["nodeName"] = "node-1"
    world.cluster.create(stranger)
    shut_down(world, "node-1")
    world.writes()
    asyncio.run(watch.look())
    assert deleted(world) == ["delete Pod chat-1"]


def test_without_the_right_they_stay_and_that_the_node_goes_is_told(caplog: pytest.LogCaptureFixture) -> None:
    world, watch = a_world()
    world.fail("delete", "Pod", Refused("Forbidden", "pods is forbidden"))
    shut_down(world, "node-1")
    with caplog.at_level(logging.INFO, "llmservice.reconcilers.node_shutdown"):
        usual = [asyncio.run(watch.look()) for _ in range(3)]
    assert world.exists("Pod", "chat-1")
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert len(told(world)) == 1
    assert len({*usual}) == 1


def test_what_could_not_be_deleted_is_tried_again_soon() -> None:
    world, watch = a_world()
    usual = asyncio.run(watch.look())
    shut_down(world, "node-1")
    world.fail("delete", "Pod", Unavailable("Unreachable", "no answer"))
    assert asyncio.run(watch.look()) < usual / 10
    world.cluster.before = lambda *_: None
    assert asyncio.run(watch.look()) == usual
    assert deleted(world) == ["delete Pod chat-1"]


def test_a_node_that_fails_in_another_way_keeps_its_replicas() -> None:
    world, watch = a_world()
    condition = {"type": "Ready", "status": "False", "message": "container runtime is down"}
    world.cluster.edit(Ref("Node", "", "node-1"), lambda live: live.update(status={"conditions": [condition]}))
    asyncio.run(watch.look())
    assert (deleted(world), told(world)) == ([], [])


def test_a_pod_that_its_nodes_controller_marks_makes_it_look_at_once() -> None:
    """Without the mark, the next look would be due after half a minute."""
    world, watch = a_world()
    watch.least_period_seconds = 0.0
    world.cache.listen(watch.notice)
    world.cluster.edit(Ref("Pod", NAMESPACE, "chat-1"), conditions(Ready="True", ContainersReady="True"))
    looked, deletes = asyncio.Event(), asyncio.Event()

    def before(verb: str, ref: Ref) -> None:
        (
            looked if ref.kind == "Node" else deletes if (verb, ref.name) == ("delete", "chat-1") else asyncio.Event()
        ).set()

    async def marked_while_it_rests() -> None:
        running = asyncio.create_task(watch.run())
        await looked.wait()
        shut_down(world, "node-1")
        world.cluster.edit(Ref("Pod", NAMESPACE, "chat-1"), conditions(Ready="False", ContainersReady="True"))
        await deletes.wait()
        running.cancel()

    world.cluster.before = before
    asyncio.run(asyncio.wait_for(marked_while_it_rests(), 10))


def conditions(**statuses: str) -> Callable[[Manifest], None]:
    told = [{"type": kind, "status": status} for kind, status in statuses.items()]
    return lambda live: live["status"].update(conditions=told)


def keep_deleted_pods(world: World) -> None:
    """A pod that is deleted stays as long as it drains."""
    for name in ("chat-0", "chat-1"):
        world.cluster.edit(Ref("Pod", NAMESPACE, name), lambda live: live["metadata"].update(finalizers=["drains"]))
    world.writes()
