"""What a change queues."""

import asyncio
from typing import Any

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.triggers import enqueue_owner, remember
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey
from tests.builders import with_changes
from tests.unit.objects.test_endpoint_slices import OF_SELECTOR, OURS

CHAT = Ref("LLMService", "ml", "chat")


def a_body(version: int = 1, uid: str = "u-1", **metadata: Any) -> Manifest:
    return {
        "kind": "LLMService",
        "metadata": {"name": "chat", "namespace": "ml", "uid": uid, "resourceVersion": str(version), **metadata},
    }


def a_pod(**metadata: Any) -> Manifest:
    labels = {"llmservice.dev/name": "chat"}
    return {"kind": "Pod", "metadata": {"name": "chat-1", "namespace": "ml", "labels": labels, **metadata}}


@pytest.mark.parametrize(
    ("before", "after", "queued"),
    [
        (None, a_body(), 1),
        (a_body(), None, 1),
        (a_body(1, generation=1), a_body(2, generation=2), 1),
        (a_body(1), a_body(2, deletionTimestamp="2026-01-01T00:00:00Z"), 1),
        (a_body(1), a_body(2, uid="u-2"), 1),
        (a_body(1), a_body(2), 0),
    ],
)
async def test_a_change_of_a_resource_queues_it_at_once(
    before: Manifest | None, after: Manifest | None, queued: int
) -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    enqueue_owner(queue, before, after)
    assert len(queue) == queued
    if queued:
        assert await queue.take() == ("ml", "chat")


async def test_a_burst_of_changes_of_the_workload_queues_its_resource_once() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    for before, after in ((None, a_pod()), (a_pod(), a_pod()), (a_pod(), None)):
        enqueue_owner(queue, before, after)
    assert len(queue) == 0
    assert await queue.take() == ("ml", "chat")
    assert len(queue) == 0


def a_replica_set(version: str = "1", **metadata: Any) -> Manifest:
    owner = {"kind": "Deployment", "name": "chat", "uid": "d-1", "controller": True}
    names = {"name": "chat-5d9", "namespace": "ml", "uid": "r-1", "resourceVersion": version}
    owned = {"labels": {"llmservice.dev/name": "chat"}, "ownerReferences": [owner]}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {**names, **owned, **metadata}}


async def test_a_replica_set_queues_its_resource_when_it_comes_and_not_when_it_counts() -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    cache = ObjectCache()
    cache.listen(lambda before, after: enqueue_owner(queue, before, after))
    cache.put(a_replica_set())
    queue.done(await queue.take())
    cache.put(a_replica_set("2", annotations={"deployment.kubernetes.io/desired-replicas": "5"}, generation=2))
    await asyncio.sleep(0.1)
    assert len(queue) == 0


@pytest.mark.parametrize("labels", [{}, {"labels": {}}, {"labels": {"llmservice.dev/name": ""}}])
@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment", "Service", "Pod"])
async def test_a_label_that_is_empty_or_gone_stops_nobody(kind: str, labels: dict[str, Any]) -> None:
    """A watch for a label tells of one without a value; whoever reads the object itself meets one without a label."""
    queue: WorkQueue[ServiceKey] = WorkQueue()
    cache = ObjectCache()
    cache.listen(lambda before, after: enqueue_owner(queue, before, after))
    metadata = {"name": "trap", "namespace": "ml", "uid": "t-1", "resourceVersion": "1", **labels}
    assert cache.put({"apiVersion": "v1", "kind": kind, "metadata": metadata})
    assert cache.drop(Ref(kind, "ml", "trap"), 2)
    assert len(queue) == 0


def a_deployment(name: str) -> Manifest:
    owner = {"kind": "LLMService", "name": "chat", "uid": "u-1", "controller": True}
    labels = {"llmservice.dev/name": name}
    metadata = {"name": "chat", "namespace": "ml", "labels": labels, "ownerReferences": [owner]}
    return {"kind": "Deployment", "metadata": metadata}


@pytest.mark.parametrize(
    ("before", "after", "queued"),
    [
        (a_deployment("chat"), a_deployment("chat"), {"chat"}),
        (a_deployment("chat"), a_deployment("other"), {"chat", "other"}),
        (None, a_deployment("other"), {"chat", "other"}),
        (a_pod(), a_pod(labels={"llmservice.dev/name": "other"}), {"chat", "other"}),
    ],
)
async def test_a_relabelled_child_queues_whose_it_was_whose_it_says_and_whose_it_is(
    before: Manifest | None, after: Manifest, queued: set[str]
) -> None:
    queue: WorkQueue[ServiceKey] = WorkQueue()
    enqueue_owner(queue, before, after)
    assert {await queue.take() for _ in queued} == {("ml", name) for name in queued}
    assert len(queue) == 0


def test_what_kopf_tells_is_kept_and_forgotten() -> None:
    cache = ObjectCache()
    remember(cache, a_body(), deleted=False)
    known = cache.get(CHAT)
    assert known is not None
    assert known["apiVersion"] == "llmservice.dev/v1alpha1"
    remember(cache, a_body(2), deleted=True)
    assert cache.get(CHAT) is None


async def test_an_endpoint_slice_queues_its_service_when_readiness_changes_and_not_when_it_only_counts() -> None:
    queue, cache = WorkQueue[ServiceKey](), ObjectCache()
    cache.listen(lambda before, after: enqueue_owner(queue, before, after))
    for version, (endpoints, queued) in enumerate(((1, 1), (2, 0), (0, 1)), start=1):
        changes = {"metadata__resourceVersion": str(version), "endpoints": OURS["endpoints"] * endpoints}
        cache.put(with_changes(OF_SELECTOR, changes))
        await asyncio.sleep(0.1)
        assert len(queue) == queued
        if queued:
            queue.done(await queue.take())
