import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from llmservice.cluster.cluster import Cluster
from llmservice.cluster.leadership.leader_only import LeaderOnly
from llmservice.errors import NotLeader
from llmservice.objects.references import Manifest, Ref
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate

REF = Ref("Service", "default", "chat")
EVENT: Manifest = {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "default", "name": "e"}}
WRITES: dict[str, Callable[[Cluster], Awaitable[object]]] = {
    "apply_new": lambda cluster: cluster.apply_new(_intent(), manager="m"),
    "post": lambda cluster: cluster.post(_intent(), manager="m"),
    "apply": lambda cluster: cluster.apply(_intent(), manager="m"),
    "overwrite": lambda cluster: cluster.overwrite(_intent(), manager="m"),
    "apply_status": lambda cluster: cluster.apply_status(_intent(), manager="m"),
    "apply_scale": lambda cluster: cluster.apply_scale(REF, 3, manager="m"),
    "delete": lambda cluster: cluster.delete(REF, uid="u"),
    "record": lambda cluster: cluster.record(EVENT),
}


@dataclass
class Left:
    """Leadership for so many seconds."""

    seconds: float

    def seconds_left(self) -> float:
        return self.seconds


def _intent() -> Manifest:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "default", "name": "chat"}, "spec": {}}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_nothing_is_written_after_the_deadline(write: Callable[[Cluster], Awaitable[object]]) -> None:
    cluster = InMemoryCluster()
    cluster.create(_intent())
    with pytest.raises(NotLeader, match="does not lead"):
        await write(LeaderOnly(cluster, Left(0.0)))
    assert cluster.writes == []


@pytest.mark.parametrize("verb", ["apply_new", "post", "record"])
async def test_a_leader_writes(verb: str) -> None:
    cluster = InMemoryCluster()
    await WRITES[verb](LeaderOnly(cluster, Left(5.0)))
    assert [written for written, _ in cluster.writes] == [verb]


async def test_reading_needs_no_leadership() -> None:
    cluster = InMemoryCluster()
    cluster.create(_intent())
    follower = LeaderOnly(cluster, Left(0.0))
    assert await follower.get(REF) is not None
    assert len(await follower.list("Service")) == 1
    assert await follower.log_tail(Ref("Pod", "default", "p"), "engine", previous=False) == ""
    assert await follower.log_head(Ref("Pod", "default", "p"), "engine") == ""


def test_a_write_under_way_is_cut_off_at_the_deadline() -> None:
    class Hanging(InMemoryCluster):
        async def record(self, event: Manifest) -> None:
            await asyncio.sleep(3600)
            await super().record(event)

    async def scene(loop: FakeTimeLoop) -> float:
        with pytest.raises(NotLeader):
            await LeaderOnly(Hanging(), Left(4.0)).record(EVENT)
        return loop.time()

    assert simulate(scene) == pytest.approx(4.0)
