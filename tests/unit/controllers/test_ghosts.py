import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest

from llmservice.cluster.cache import SERVICE_LABEL, ObjectCache
from llmservice.cluster.selecting import has_labels
from llmservice.controllers.ghosts import sweep, sweep_forever
from llmservice.converging.references import Manifest, Ref, ref_of
from llmservice.errors import Refused, Unavailable
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate


@dataclass
class Api:
    """What is really there."""

    bodies: list[Manifest] = field(default_factory=list)
    down: bool = False
    refused: str = ""
    lists: list[float] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    gets: int = 0

    async def list_metadata(self, kind: str, namespace: str, *, label_selector: str) -> list[Manifest]:
        if kind == "LLMService":
            self.lists.append(asyncio.get_running_loop().time())
            self.asked[namespace] += 1
        if self.refused and namespace == self.refused:
            raise Refused("Forbidden", f"llmservices is forbidden in {namespace}")
        if self.down:
            raise Unavailable("Unreachable", "away")
        found = [body for body in self.bodies if body["kind"] == kind and has_labels(body, label_selector)]
        return [body for body in found if namespace in {"", body["metadata"]["namespace"]}]

    async def get(self, ref: Ref) -> Manifest | None:
        self.gets += 1
        return next((body for body in self.bodies if ref_of(body) == ref), None)


def a_body(name: str, version: int = 1, uid: str = "") -> Manifest:
    metadata = {"namespace": "ml", "name": name, "uid": uid or name, "resourceVersion": str(version)}
    return {"apiVersion": "llmservice.dev/v1alpha1", "kind": "LLMService", "metadata": metadata}


def a_child(name: str, version: int = 1, kind: str = "Deployment") -> Manifest:
    body = a_body(name, version)
    return {**body, "kind": kind, "metadata": {**body["metadata"], "labels": {SERVICE_LABEL: "chat"}}}


def a_cache(*bodies: Manifest) -> ObjectCache:
    cache = ObjectCache()
    for body in bodies:
        cache.put(body)
    return cache


def names(cache: ObjectCache, kind: str = "LLMService") -> set[str]:
    return {body["metadata"]["name"] for body in cache.of_kind(kind)}


async def test_forgets_what_is_gone() -> None:
    cache = a_cache(a_body("stays"), a_body("gone"))
    await sweep(Api([a_body("stays")]), cache, "")
    assert names(cache) == {"stays"}


async def test_fetches_what_was_never_told_and_what_is_newer() -> None:
    cache, api = a_cache(a_body("old"), a_body("same")), Api([a_body("old", 9), a_body("same"), a_body("new", 5)])
    await sweep(api, cache, "")
    assert {body["metadata"]["resourceVersion"] for body in cache.of_kind("LLMService")} == {"9", "1", "5"}
    assert api.gets == 2


async def test_takes_a_successor_for_another_resource() -> None:
    cache = a_cache(a_body("chat", uid="first"))
    seen: list[tuple[str, str]] = []
    cache.listen(lambda before, after: seen.append((_uid(before), _uid(after))))
    await sweep(Api([a_body("chat", 7, uid="second")]), cache, "")
    assert seen[0] == ("first", "")
    assert names(cache) == {"chat"}


@pytest.mark.parametrize("kind", ["Deployment", "Service", "PodDisruptionBudget", "Pod"])
async def test_a_child_whose_event_was_lost_is_forgotten_or_fetched(kind: str) -> None:
    cache = a_cache(a_child("gone", kind=kind), a_child("old", kind=kind))
    strangers = {**a_body("a stranger's"), "kind": kind}

    await sweep(Api([a_child("old", 9, kind), strangers]), cache, "")

    assert names(cache, kind) == {"old"}
    assert [body["metadata"]["resourceVersion"] for body in cache.of_kind(kind)] == ["9"]


def test_sweeps_every_few_minutes_and_when_it_is_wanted() -> None:
    async def scene(_: FakeTimeLoop) -> list[float]:
        api, wanted = Api(), asyncio.Event()
        task = asyncio.create_task(sweep_forever(api, ObjectCache(), (), wanted))
        await asyncio.sleep(100)
        wanted.set()
        await asyncio.sleep(0.5)
        wanted.set()
        await asyncio.sleep(331.5)
        task.cancel()
        return api.lists

    lists = simulate(scene)
    assert lists[:2] == [0.0, pytest.approx(101.0)]
    assert len(lists) == 3


def test_a_failed_sweep_is_made_up_for_soon() -> None:
    async def scene(_: FakeTimeLoop) -> list[float]:
        api = Api(down=True)
        task = asyncio.create_task(sweep_forever(api, ObjectCache(), ()))
        await asyncio.sleep(35)
        task.cancel()
        return api.lists

    assert 3 <= len(simulate(scene)) <= 5


def test_only_the_namespace_that_failed_is_swept_again_soon_and_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(_: FakeTimeLoop) -> Counter[str]:
        api = Api(refused="gone")
        task = asyncio.create_task(sweep_forever(api, ObjectCache(), ("ml", "gone")))
        await asyncio.sleep(400)
        task.cancel()
        return api.asked

    asked = simulate(scene)
    assert asked["ml"] == 2
    assert 35 <= asked["gone"] <= 48
    assert [record.getMessage() for record in caplog.records] == ["sweep of gone: llmservices is forbidden in gone"]


@pytest.mark.parametrize("ticks", range(4))
def test_ends_when_it_is_cancelled_in_the_moment_it_is_wanted(ticks: int) -> None:
    async def scene(_: FakeTimeLoop) -> bool:
        wanted = asyncio.Event()
        task = asyncio.create_task(sweep_forever(Api(), ObjectCache(), (), wanted))
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
