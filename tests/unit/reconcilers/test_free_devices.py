"""Free devices are read once for many services, and no device is told to two of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmservice.converging.free_devices import (
    NO_ANSWER,
    NO_RIGHT,
    DeviceNode,
    DevicePod,
    Own,
    Room,
    device_node,
    device_pod,
)
from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest
from llmservice.reconcilers.free_devices import FreeDevices
from tests.unit.converging.devices import a_holder, a_node, asking

NOBODY = Own()


@dataclass
class Cluster:
    """Nodes and pods, and what was asked about them."""

    manifests: Sequence[Manifest] = ()
    holders: list[Manifest] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    failure: Exception | None = None
    time: float = 0.0

    async def nodes(self) -> list[DeviceNode]:
        self.asked.append("nodes")
        await asyncio.sleep(0)
        if self.failure:
            raise self.failure
        return [node for node in map(device_node, self.manifests) if node]

    async def pods(self, node: str = "") -> list[DevicePod]:
        self.asked.append(f"pods {node}".strip())
        await asyncio.sleep(0)
        found = [pod for pod in map(device_pod, self.holders) if pod]
        return [pod for pod in found if node in {"", pod.node}]

    def free(self) -> FreeDevices:
        return FreeDevices(self, lambda: self.time)


async def told(free: FreeDevices, service: str = "ml/chat", spec: dict[str, Any] | None = None) -> Room:
    """What a service is told; it takes what is free."""
    room = await free.room(service, spec or asking(), NOBODY)
    assert isinstance(room, Room)
    if room.node:
        free.promise(service, room, NOBODY)
    return room


async def test_many_services_that_roll_out_at_once_share_one_reading() -> None:
    cluster = Cluster([a_node("n1", 2), a_node("n2", 2)])
    free = cluster.free()
    rooms = await asyncio.gather(*(told(free, f"ml/chat-{number}") for number in range(500)))
    assert sorted(cluster.asked) == ["nodes", "pods n1", "pods n2"]
    assert sum(bool(room.node) for room in rooms) == 4


async def test_of_two_services_one_takes_the_device_that_is_free() -> None:
    free = Cluster([a_node()]).free()
    assert [(await told(free, name)).node for name in ("ml/chat", "ml/other")] == ["n1", ""]


async def test_a_service_that_asks_again_is_promised_the_same_once() -> None:
    free = Cluster([a_node("n1", 2)]).free()
    await told(free)
    await told(free)
    assert (await told(free, "ml/other")).node == "n1"


async def test_what_was_read_is_used_for_seconds() -> None:
    cluster = Cluster([a_node("n1", 2)])
    free = cluster.free()
    await told(free)
    cluster.time = 4.0
    await told(free)
    assert cluster.asked == ["nodes", "pods n1"]
    cluster.time = 6.0
    await told(free)
    assert cluster.asked == ["nodes", "pods n1"] * 2


async def test_a_promise_counts_until_the_pod_that_keeps_it_was_read() -> None:
    cluster = Cluster([a_node("n1", 2)])
    free = cluster.free()
    await told(free)
    cluster.time = 1.0
    free.keep_promise("ml/chat", frozenset())
    free.keep_promise("ml/other", frozenset({"uid-new"}))
    free.keep_promise("ml/chat", frozenset({"uid-new"}))
    assert (await told(free, "ml/other")).free == 1
    cluster.holders.append(a_holder("new"))
    cluster.time = 6.0
    free.keep_promise("ml/other", frozenset())
    assert (await told(free, "ml/third")).free == 0
    cluster.time = 12.0
    free.keep_promise("ml/other", frozenset({"uid-other"}))
    cluster.time = 18.0
    assert (await told(free, "ml/third")).free == 1


async def test_a_promise_that_nobody_took_ends() -> None:
    cluster = Cluster([a_node()])
    free = cluster.free()
    await told(free)
    cluster.time = 29.0
    assert (await told(free, "ml/other")).node == ""
    cluster.time = 31.0
    assert (await told(free, "ml/other")).node == "n1"


async def test_pods_of_many_nodes_come_in_one_list() -> None:
    cluster = Cluster([a_node(f"n{number}") for number in range(40)], [a_holder("a", "n7")])
    room = await told(cluster.free())
    assert (cluster.asked, room.total, room.free) == (["nodes", "pods"], 40, 39)


async def test_pods_of_nodes_that_the_replica_may_not_run_on_are_not_read() -> None:
    cluster = Cluster([a_node("n1"), a_node("n2", labels={"gpu": "L4"})])
    await told(cluster.free(), spec={**asking(), "nodeSelector": {"gpu": "L4"}})
    assert cluster.asked == ["nodes", "pods n2"]


async def test_without_the_right_nothing_is_counted_and_it_is_asked_for_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cluster = Cluster(failure=Refused("Forbidden", "nodes is forbidden"))
    free = cluster.free()
    with caplog.at_level("INFO"):
        assert [await free.room("ml/chat", asking(), NOBODY) for _ in range(3)] == [NO_RIGHT] * 3
    assert (cluster.asked, caplog.text.count("nodes is forbidden")) == (["nodes"], 1)
    cluster.time, cluster.failure = 601.0, None
    assert isinstance(await free.room("ml/chat", asking(), NOBODY), Room)


async def test_a_reading_that_takes_too_long_is_given_up_and_not_begun_again_at_once() -> None:
    cluster = Cluster(failure=TimeoutError())
    free = cluster.free()
    assert [await free.room("ml/chat", asking(), NOBODY) for _ in range(3)] == [NO_ANSWER] * 3
    assert cluster.asked == ["nodes"]
    cluster.time, cluster.failure = 61.0, None
    assert isinstance(await free.room("ml/chat", asking(), NOBODY), Room)


async def test_an_api_server_that_does_not_answer_is_asked_again() -> None:
    cluster = Cluster([a_node()], failure=Unavailable("Timeout", "no answer"))
    free = cluster.free()
    with pytest.raises(Unavailable):
        await free.room("ml/chat", asking(), NOBODY)
    cluster.failure = None
    assert (await told(free)).node == "n1"


async def test_lists_that_fail_for_a_minute_hold_no_rollout_back() -> None:
    cluster = Cluster([a_node()], failure=Unavailable("InternalError", "the list of nodes fails"))
    free = cluster.free()
    for cluster.time in (1000.0, 1020.0, 1040.0):
        with pytest.raises(Unavailable):
            await free.room("ml/chat", asking(), NOBODY)
    cluster.time = 1060.0
    assert await free.room("ml/chat", asking(), NOBODY) == NO_ANSWER
    cluster.time, cluster.failure = 1121.0, None
    assert (await told(free)).node == "n1"
    cluster.time, cluster.failure = 9000.0, Unavailable("InternalError", "the list of nodes fails")
    with pytest.raises(Unavailable):
        await free.room("ml/chat", asking(), NOBODY)
