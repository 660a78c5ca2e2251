"""Nodes that go are told of once, to the services that have replicas there."""

import asyncio
import functools
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.node_watch import NodeWatch
from tests.scenarios.world import NAMESPACE, World


def a_world(nodes: int = 2) -> tuple[World, NodeWatch]:
    """Two replicas on one node each."""
    world = World().serving(spec__replicas=2)
    for number in range(nodes):
        metadata = {"name": f"node-{number}", "namespace": ""}
        world.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}})
    for number in range(2):
        pod = Ref("Pod", NAMESPACE, f"chat-{number}")
        world.cluster.edit(pod, functools.partial(place, node=f"node-{number}"))
    world.time += timedelta(minutes=1)  # a second event in the same moment would have the name of the first
    return world, NodeWatch(cluster=world.cluster, cache=world.cache, now=lambda: world.time)


def place(pod: Manifest, *, node: str) -> None:
    pod["spec"]["nodeName"] = node


def taint(world: World, node: str, **spec: Any) -> None:
    world.cluster.edit(Ref("Node", "", node), lambda live: live["spec"].update(spec))


def told(world: World) -> list[str]:
    events = asyncio.run(world.cluster.list("Event", NAMESPACE))
    return [item["message"] for item in events if item["reason"] == "NodeLeaving"]


def test_a_node_that_goes_is_told_of_once() -> None:
    world, watch = a_world()
    asyncio.run(watch.look())
    taint(world, "node-1", taints=[{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}])
    for _ in range(3):
        asyncio.run(watch.look())
    (message,) = told(world)
    assert "node-1" in message
    assert "karpenter.sh/disrupted" in message
    assert set(watch.leaving) == {"node-1"}


def test_a_new_leader_does_not_tell_it_again() -> None:
    world, watch = a_world()
    taint(world, "node-1", unschedulable=True)
    asyncio.run(watch.look(tell=False))
    asyncio.run(watch.look())
    assert (told(world), set(watch.leaving)) == ([], {"node-1"})


def test_a_node_that_stays_after_all_is_forgotten() -> None:
    world, watch = a_world()
    taint(world, "node-1", unschedulable=True)
    asyncio.run(watch.look())
    taint(world, "node-1", unschedulable=False)
    asyncio.run(watch.look())
    assert watch.leaving == {}


def test_without_the_right_nothing_is_known_and_it_is_asked_rarely() -> None:
    world, watch = a_world()
    usual = asyncio.run(watch.look())
    world.fail("list", "Node", Refused("Forbidden", "nodes is forbidden"))
    assert asyncio.run(watch.look()) > 10 * usual
    assert watch.leaving == {}


def test_what_is_known_stays_while_the_api_server_does_not_answer() -> None:
    world, watch = a_world()
    taint(world, "node-1", unschedulable=True)
    asyncio.run(watch.look())
    world.fail("list", "Node", Unavailable("Unreachable", "no answer"))
    asyncio.run(watch.look())
    assert set(watch.leaving) == {"node-1"}


def test_nodes_without_replicas_are_not_asked_for() -> None:
    world, watch = a_world(nodes=3)
    taint(world, "node-2", unschedulable=True)
    asyncio.run(watch.look())
    assert (watch.leaving, told(world)) == ({}, [])


def test_many_nodes_are_asked_for_a_few_at_once() -> None:
    world, watch = a_world(nodes=40)
    pod = world.get("Pod", "chat-0")
    for number in range(40):
        metadata = {key: pod["metadata"][key] for key in ("namespace", "labels", "ownerReferences")}
        world.cluster.create(
            {**pod, "metadata": {**metadata, "name": f"of-{number}"}, "spec": {"nodeName": f"node-{number}"}}
        )
        taint(world, f"node-{number}", unschedulable=True)
    asked = Asked(world)
    watch.cluster = asked  # type: ignore[assignment]
    asyncio.run(watch.look(tell=False))
    assert (len(watch.leaving), 1 < asked.most <= 8) == (40, True)


@dataclass
class Asked:
    """A cluster whose lists take a moment; counts how many are under way at once."""

    world: World
    now: int = 0
    most: int = 0

    async def list(self, kind: str, **named: Any) -> list[Manifest]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return await self.world.cluster.list(kind, **named)
