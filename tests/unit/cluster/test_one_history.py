"""Nothing is written by what is known of another history."""

import asyncio
from dataclasses import dataclass, field

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.one_history import OneHistory, decided_in
from llmservice.errors import NotYet
from llmservice.objects.references import Manifest, Ref, ref_of
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate

CHAT = Ref("ConfigMap", "default", "chat")


@dataclass
class Cell:
    """A cluster in its history, and what was written to it."""

    live: InMemoryCluster = field(default_factory=InMemoryCluster)
    cache: ObjectCache = field(default_factory=ObjectCache)
    history: History = field(default_factory=History)
    cluster: OneHistory = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = OneHistory(self.live, self.cache, self.history)

    async def apply(self, name: str = "chat") -> Manifest:
        return await self.cluster.apply_new(_intent(name), manager="operator")


def _intent(name: str, **metadata: str) -> Manifest:
    named = {"namespace": "default", "name": name, **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": {"key": "value"}}


async def test_an_answer_older_than_what_was_known_begins_another_history() -> None:
    cell = Cell()
    cell.cache.put(_intent("chat", resourceVersion="1000"))
    with pytest.raises(NotYet, match="another time"):
        await cell.apply()
    assert cell.history.epoch == 1


async def test_so_does_an_object_read_live() -> None:
    cell = Cell()
    await cell.apply()
    cell.cache.put(_intent("chat", resourceVersion="1000"))
    with pytest.raises(NotYet, match="another time"):
        await cell.cluster.get(CHAT)
    assert cell.history.epoch == 1


async def test_an_answer_that_a_watch_has_overtaken_tells_nothing() -> None:
    class Overtaken(InMemoryCluster):
        async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
            live = await InMemoryCluster.apply_new(self, manifest, manager=manager)
            cell.cache.put({**live, "metadata": {**live["metadata"], "resourceVersion": "1000"}})
            return live

    cell = Cell(Overtaken())
    assert ref_of(await cell.apply()) == CHAT
    assert cell.history.epoch == 0


def test_while_in_doubt_nothing_is_written_and_it_waits_no_longer_than_seconds() -> None:
    async def scene(loop: FakeTimeLoop) -> tuple[float, int]:
        cell = Cell()
        cell.history.doubt("Pod")
        with pytest.raises(NotYet, match="nothing was written"):
            await cell.apply()
        return loop.time(), len(cell.live.writes)

    assert simulate(scene) == (5.0, 0)


async def test_a_doubt_that_is_over_soon_holds_up_nobody_for_long() -> None:
    cell = Cell()
    cell.history.doubt("Pod")
    asyncio.get_running_loop().call_later(0.01, cell.history.trust, "Pod")
    await cell.apply()
    assert len(cell.live.writes) == 1


async def test_what_was_decided_in_another_history_is_never_written() -> None:
    cell = Cell()
    decided_in.set(cell.history.epoch)
    cell.history.went_back("Pod", 9, 3)
    with pytest.raises(NotYet, match="no longer so"):
        await cell.apply()
    decided_in.set(cell.history.epoch)
    await cell.apply()
    assert len(cell.live.writes) == 1


async def test_after_another_history_began_every_selection_is_read_before_anything_is_written() -> None:
    history = History(members={"Pod", "Deployment"})
    epoch = history.went_back("Pod", 9, 3)
    history.read("Pod", epoch)
    assert not history.is_settled()
    history.read("Deployment", epoch - 1)
    assert not history.is_settled(), "its list began in the old one"
    history.read("Deployment", epoch)
    assert history.is_settled()


def test_a_doubt_that_nobody_ends_does_not_hold_up_writes_for_ever() -> None:
    async def scene(_: FakeTimeLoop) -> list[bool]:
        history, settled = History(), []
        history.doubt("Pod")
        for seconds in (59, 2):
            await asyncio.sleep(seconds)
            history.doubt("Pod")
            settled.append(history.is_settled())
        return settled

    assert simulate(scene) == [False, True]


async def test_an_outage_ends_with_the_last_doubt_and_is_told() -> None:
    told = list[str]()
    history = History(after_outage=lambda: told.append("over"))
    for name in ("Pod", "Deployment"):
        history.doubt(name)
    history.trust("Pod")
    history.doubt("Pod")
    history.in_vain()
    history.trust("Pod")
    assert told == []
    history.trust("Deployment")
    assert told == ["over"]


async def test_an_answer_that_comes_when_another_history_has_begun_is_not_taken() -> None:
    """Its version may be higher than any of the other history."""
    cell = Cell()

    class Restored(InMemoryCluster):
        async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
            live = await InMemoryCluster.apply_new(self, manifest, manager=manager)
            cell.history.went_back("Pod", 1000, 10)
            return live

    cluster = OneHistory(Restored(), cell.cache, cell.history)
    with pytest.raises(NotYet):
        await cluster.apply_new(_intent("chat"), manager="operator")
    assert cell.history.epoch == 1
