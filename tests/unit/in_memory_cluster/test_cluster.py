import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.errors import Conflict, Unavailable
from llmservice.objects.references import Manifest, Ref, uid_of
from tests.in_memory_cluster.cluster import InMemoryCluster

CHAT = Ref("Service", "default", "chat")


def a_service(name: str = "chat", **metadata: object) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": "default", "name": name, **metadata},
        "spec": {"ports": [{"port": 80}]},
    }


async def test_remembers_the_writes_made() -> None:
    cluster = InMemoryCluster()
    applied = await cluster.apply_new(a_service(), manager="m")
    await cluster.get(CHAT)
    await cluster.delete(CHAT, uid=uid_of(applied))

    assert cluster.writes == [("apply_new", CHAT), ("delete", CHAT)]


async def test_a_fault_keeps_a_write_from_happening() -> None:
    def refuse(verb: str, _: Ref) -> None:
        if verb == "apply_new":
            raise Unavailable("Injected", "away")

    cluster = InMemoryCluster(before=refuse)
    with pytest.raises(Unavailable):
        await cluster.apply_new(a_service(), manager="m")

    assert cluster.peek(CHAT) is None
    assert cluster.writes == []


async def test_tells_a_cache_what_changes() -> None:
    cache = ObjectCache()
    cluster = InMemoryCluster(cache=cache)
    applied = await cluster.apply_new(a_service(labels={"llmservice.dev/name": "chat"}), manager="m")
    kept = cache.of_service("Service", "default", "chat")
    await cluster.delete(CHAT, uid=uid_of(applied))

    assert [uid_of(live) for live in kept] == [uid_of(applied)]
    assert cache.get(CHAT) is None


async def test_what_is_read_can_be_changed_without_harm() -> None:
    cluster = InMemoryCluster()
    applied = await cluster.apply_new(a_service(), manager="m")
    applied["spec"]["ports"].clear()
    live = await cluster.get(CHAT)

    assert live is not None
    assert live["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_an_object_with_a_finalizer_stays_until_the_last_one_is_gone() -> None:
    cluster = InMemoryCluster()
    cluster.create(a_service(finalizers=["test/hold"]))
    cluster.remove(CHAT)
    marked = cluster.peek(CHAT)
    cluster.edit(CHAT, lambda live: live["metadata"].pop("finalizers"))

    assert marked is not None
    assert "deletionTimestamp" in marked["metadata"]
    assert cluster.peek(CHAT) is None


def test_a_dependent_of_two_owners_stays_until_both_are_gone() -> None:
    cluster = InMemoryCluster()
    owners = [cluster.create(a_service(name)) for name in ("one", "two")]
    references = [{"kind": "Service", "name": owner["metadata"]["name"], "uid": uid_of(owner)} for owner in owners]
    cluster.create(a_service(ownerReferences=references))
    cluster.remove(Ref("Service", "default", "one"))
    between = cluster.peek(CHAT)
    cluster.remove(Ref("Service", "default", "two"))

    assert between is not None
    assert cluster.peek(CHAT) is None


def test_creating_what_exists_is_a_conflict() -> None:
    cluster = InMemoryCluster()
    cluster.create(a_service())

    with pytest.raises(Conflict, match="already exists"):
        cluster.create(a_service())


def test_a_successor_gets_another_uid_and_a_newer_version() -> None:
    cluster = InMemoryCluster()
    first = cluster.create(a_service())
    cluster.remove(CHAT)
    second = cluster.create(a_service())

    assert uid_of(first) != uid_of(second)
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"]) + 1


async def test_tells_the_logs_it_was_given() -> None:
    pod = Ref("Pod", "default", "chat-0")
    cluster = InMemoryCluster(logs={(pod, "engine", True): "out of memory"})

    assert await cluster.log_tail(pod, "engine", previous=True, max_bytes=6) == "memory"
    assert await cluster.log_tail(pod, "engine", previous=False) == ""
    assert await cluster.log_head(pod, "engine") == ""
