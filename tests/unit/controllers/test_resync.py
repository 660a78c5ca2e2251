import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.census import Counted, Page
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.listing import Selection
from llmservice.controllers.resync import Resync
from llmservice.errors import Refused, Unavailable
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, ref_of
from tests.in_memory_cluster.selecting import has_labels
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate


@dataclass
class Api:
    """What is really there."""

    bodies: list[Manifest] = field(default_factory=list)
    version: int = 100
    down: bool = False
    refused: str = ""
    lists: list[float] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    kinds: list[str] = field(default_factory=list)
    gets: int = 0

    async def census(self, selection: Selection) -> AsyncIterator[Page]:
        kind, namespace = selection.kind, selection.namespace
        self.kinds.append(kind)
        assert bool(selection.label_selector) == (kind != "LLMService")
        if kind == "LLMService":
            self.lists.append(asyncio.get_running_loop().time())
            self.asked[namespace] += 1
        if self.refused and namespace == self.refused:
            raise Refused("Forbidden", f"llmservices is forbidden in {namespace}")
        if self.down:
            raise Unavailable("Unreachable", "away")
        found = [body for body in self.bodies if body["kind"] == kind and has_labels(body, selection.label_selector)]
        for body in found:
            metadata = body["metadata"]
            if namespace in {"", metadata["namespace"]}:
                names = (metadata["namespace"], metadata["name"], metadata["uid"], metadata["resourceVersion"])
                yield Page(self.version, [Counted(*names)])
        yield Page(self.version, [])

    async def get(self, ref: Ref) -> Manifest | None:
        self.gets += 1
        return next((body for body in self.bodies if ref_of(body) == ref), None)


def a_body(name: str, version: int = 1, uid: str = "") -> Manifest:
    metadata = {"namespace": "ml", "name": name, "uid": uid or name, "resourceVersion": str(version)}
    return {"apiVersion": "llmservice.dev/v1alpha1", "kind": "LLMService", "metadata": metadata}


def a_child(name: str, version: int = 1, kind: str = "Deployment") -> Manifest:
    body = a_body(name, version)
    return {**body, "kind": kind, "metadata": {**body["metadata"], "labels": {NAME_LABEL: "chat"}}}


def a_cache(*bodies: Manifest) -> ObjectCache:
    cache = ObjectCache()
    for body in bodies:
        cache.put(body)
    return cache


async def resync(api: Api, cache: ObjectCache, history: History | None = None) -> None:
    async def at_once() -> None:
        await asyncio.sleep(0)

    await Resync(api=api, cache=cache, history=history or History()).resync("", at_once)


def names(cache: ObjectCache, kind: str = "LLMService") -> set[str]:
    return {body["metadata"]["name"] for body in cache.of_kind(kind)}


async def test_forgets_what_is_gone() -> None:
    cache = a_cache(a_body("stays"), a_body("gone"))
    await resync(Api([a_body("stays")]), cache)
    assert names(cache) == {"stays"}


async def test_fetches_what_was_never_told_and_what_is_newer() -> None:
    cache, api = a_cache(a_body("old"), a_body("same")), Api([a_body("old", 9), a_body("same"), a_body("new", 5)])
    await resync(api, cache)
    assert {body["metadata"]["resourceVersion"] for body in cache.of_kind("LLMService")} == {"9", "1", "5"}
    assert api.gets == 2


async def test_takes_a_successor_for_another_resource() -> None:
    cache = a_cache(a_body("chat", uid="first"))
    seen: list[tuple[str, str]] = []
    cache.listen(lambda before, after: seen.append((_uid(before), _uid(after))))
    await resync(Api([a_body("chat", 7, uid="second")]), cache)
    assert seen[0] == ("first", "")
    assert names(cache) == {"chat"}


@pytest.mark.parametrize("kind", ["Deployment", "Service", "PodDisruptionBudget", "Pod"])
async def test_a_child_whose_event_was_lost_is_forgotten_or_fetched(kind: str) -> None:
    cache = a_cache(a_child("gone", kind=kind), a_child("old", kind=kind))
    strangers = {**a_body("a stranger's"), "kind": kind}

    await resync(Api([a_child("old", 9, kind), strangers]), cache)

    assert names(cache, kind) == {"old"}
    assert [body["metadata"]["resourceVersion"] for body in cache.of_kind(kind)] == ["9"]


@pytest.mark.parametrize(
    ("known", "listed", "left"),
    [
        ([a_body("chat")], [], None),
        ([a_body("chat")], [a_body("chat")], "1"),
        ([], [a_body("chat", 3)], "3"),
        ([a_body("chat", 1)], [a_body("chat", 4)], "4"),
        ([a_body("chat", 9)], [a_body("chat", 4)], "4"),
        ([a_body("chat", 1, "old")], [a_body("chat", 5, "new")], "5"),
    ],
)
async def test_makes_the_cache_true_up_to_the_version_of_the_list(
    known: list[Manifest], listed: list[Manifest], left: str | None
) -> None:
    """An object older than the one known, in a list newer than both: versions went back and have grown since."""
    cache = a_cache(*known)
    await resync(Api(listed), cache)
    found = cache.get(Ref("LLMService", "ml", "chat"))
    assert (found["metadata"]["resourceVersion"] if found else None) == left


@pytest.mark.parametrize("listed", [[], [a_body("chat", 4)]])
async def test_leaves_alone_what_was_written_after_the_list_began(listed: list[Manifest]) -> None:
    cache = ObjectCache()

    class Late(Api):
        async def census(self, selection: Selection) -> AsyncIterator[Page]:
            if selection.kind == "LLMService":
                cache.put(a_body("chat", 101))
            async for page in Api.census(self, selection):
                yield page

    await resync(Late(listed), cache)
    assert [body["metadata"]["resourceVersion"] for body in cache.of_kind("LLMService")] == ["101"]


async def test_a_count_older_than_what_was_heard_is_one_of_another_history() -> None:
    cache, history = a_cache(a_body("chat", 500)), History()
    await resync(Api([a_body("chat", 50)]), cache, history)
    assert history.epoch == 1
    assert names(cache) == {"chat"}, "all is listed again; until then nothing is forgotten or written"


def test_counts_every_few_minutes_and_when_it_is_wanted() -> None:
    async def scene(_: FakeTimeLoop) -> list[float]:
        api, wanted = Api(), asyncio.Event()
        task = asyncio.create_task(Resync(api=api, cache=ObjectCache(), wanted=wanted).run())
        await asyncio.sleep(100)
        wanted.set()
        await asyncio.sleep(0.5)
        wanted.set()
        await asyncio.sleep(299.5)
        task.cancel()
        return api.lists

    lists = simulate(scene)
    assert lists[0] == pytest.approx(101.0), "not at the start: everything has just been listed"
    assert len(lists) == 2
    assert 200 <= lists[1] - lists[0] <= 250


def test_a_round_takes_its_time_unless_it_is_wanted_now() -> None:
    """A few thousand objects in one go would keep the loop busy; a deletion kopf does not tell cannot wait."""

    async def scene(_: FakeTimeLoop) -> list[float]:
        api, wanted = Api([a_body(str(number)) for number in range(50)]), asyncio.Event()
        now = asyncio.get_running_loop().time
        task = asyncio.create_task(Resync(api=api, cache=a_cache(*api.bodies), wanted=wanted).run())
        took = []
        for _round in ("slowly", "at once"):
            while not api.kinds:  # noqa: ASYNC110  (time is played)
                await asyncio.sleep(0.1)
            began = now()
            while "Pod" not in api.kinds:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            took.append(now() - began)
            await asyncio.sleep(50)
            api.kinds.clear()
            wanted.set()
        task.cancel()
        return took

    slowly, at_once = simulate(scene)
    assert slowly > 10
    assert at_once < 1


def test_a_failed_resync_is_repeated_soon() -> None:
    async def scene(_: FakeTimeLoop) -> list[float]:
        api, wanted = Api(down=True), asyncio.Event()
        wanted.set()
        task = asyncio.create_task(Resync(api=api, cache=ObjectCache(), wanted=wanted).run())
        await asyncio.sleep(35)
        task.cancel()
        return api.lists

    assert 3 <= len(simulate(scene)) <= 5


def test_only_the_namespace_that_failed_is_swept_again_soon_and_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(_: FakeTimeLoop) -> Counter[str]:
        api, wanted = Api(refused="gone"), asyncio.Event()
        wanted.set()
        resync = Resync(api=api, cache=ObjectCache(), namespaces=("ml", "gone"), wanted=wanted)
        task = asyncio.create_task(resync.run())
        await asyncio.sleep(330)
        task.cancel()
        return api.asked

    asked = simulate(scene)
    assert asked["ml"] == 2
    assert 27 <= asked["gone"] <= 40
    assert [record.getMessage() for record in caplog.records] == ["resync of gone: llmservices is forbidden in gone"]


@pytest.mark.parametrize("ticks", range(4))
def test_ends_when_it_is_cancelled_in_the_moment_it_is_wanted(ticks: int) -> None:
    async def scene(_: FakeTimeLoop) -> bool:
        wanted = asyncio.Event()
        task = asyncio.create_task(Resync(api=Api(), cache=ObjectCache(), wanted=wanted).run())
        await asyncio.sleep(1)
        wanted.set()
        for _tick in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        return task.cancelled()

    assert simulate(scene)


def _uid(body: Manifest | None) -> str:
    return "" if body is None else str(body["metadata"]["uid"])


async def test_a_kind_that_the_cluster_lacks_is_not_counted() -> None:
    api = Api()

    async def at_once() -> None:
        await asyncio.sleep(0)

    await Resync(api=api, cache=ObjectCache(), absent=lambda _: {"Deployment"}).resync("", at_once)

    assert "Deployment" not in api.kinds
    assert {"LLMService", "Service", "Pod"} <= set(api.kinds)


async def test_what_was_counted_in_another_history_takes_nothing_away() -> None:
    """etcd was restored between the last page and the end: what is cached since then was listed anew."""
    cache, history, api = a_cache(a_body("chat", 50)), History(), Api([a_body("chat", 50)])

    async def restored() -> None:
        if history.epoch == 0 and api.kinds == ["LLMService"]:
            history.went_back("Pod", 100, 60)
            cache.replace_all("LLMService", [a_body("restored", 40)], 60, anew=True)

    await Resync(api=api, cache=cache, history=history, kinds=("LLMService",)).resync("", restored)
    assert names(cache) == {"restored"}


async def test_what_was_fetched_in_another_history_is_not_kept() -> None:
    cache, history = ObjectCache(), History()

    class Restored(Api):
        async def get(self, ref: Ref) -> Manifest | None:
            found = await Api.get(self, ref)
            history.went_back("Pod", 100, 60)
            return found

    await resync(Restored([a_body("chat", 90)]), cache, history)
    assert names(cache) == set()
