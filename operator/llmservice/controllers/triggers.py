"""What queues the key of an LLMService: a change of it, of its children, or of the catalogue."""

from collections.abc import Callable, Iterator
from typing import Any

from llmservice.catalog.catalogue import Catalogue
from llmservice.cluster.caching.cache import ObjectCache, version_of
from llmservice.cluster.kinds import KINDS
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, ref_of
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey

_BURST_SECONDS = 0.05

_ASKED = {
    "LLMService": ("uid", "generation", "deletionTimestamp", "annotations"),
    "ReplicaSet": ("uid", "labels", "ownerReferences"),
}
"""Of these kinds, the metadata that a pass depends on; every other change of them is our own, or nothing to us."""


def remember(cache: ObjectCache, body: dict[str, Any], deleted: bool) -> None:  # noqa: FBT001
    """Keep what kopf's watch reported about an LLMService."""
    kind = KINDS["LLMService"]
    manifest = {**body, "apiVersion": kind.api_version, "kind": kind.kind}
    if deleted:
        cache.drop(ref_of(manifest), version_of(manifest))
    else:
        cache.put(manifest)


def use_catalogue(
    planner: CataloguePlanner, cache: ObjectCache, queue: WorkQueue[ServiceKey], catalogue: Catalogue
) -> None:
    """Plan with this catalogue from now on, and queue every resource: one that was refused may be valid now.

    All of them, because the status of one that is being refused at this moment does not say so yet; an existing plan
    keeps the facts it was made from.
    """
    planner.catalogue = catalogue
    enqueue_all(queue, cache)


def enqueue_all(queue: WorkQueue[ServiceKey], cache: ObjectCache, namespace: str = "") -> None:
    """Queue every resource, or those in one namespace."""
    for body in cache.of_kind("LLMService", namespace):
        queue.add((body["metadata"]["namespace"], body["metadata"]["name"]))


def enqueue_owner(
    queue: WorkQueue[ServiceKey],
    before: Manifest | None,
    after: Manifest | None,
    *,
    is_foreign: Callable[[Manifest], bool] = lambda _: False,
) -> None:
    """Queue the LLMService that a changed object is, or belongs to.

    Its workload changes in bursts (created, scheduled, started, counted): one pass at the end of each is enough. Our
    own status writes queue nothing; a status that `is_foreign` is corrected.
    """
    if before and after and _says_the_same(before, after):
        if after["kind"] == "LLMService" and before.get("status") != after.get("status") and is_foreign(after):
            queue.add_after((after["metadata"]["namespace"], after["metadata"]["name"]), _BURST_SECONDS)
        return
    seen = [manifest for manifest in (before, after) if manifest]
    for key in dict.fromkeys(key for manifest in seen for key in _owners(manifest)):
        if seen[-1]["kind"] == "LLMService":
            queue.add(key)
        else:
            queue.add_after(key, _BURST_SECONDS)


def _owners(manifest: Manifest) -> Iterator[ServiceKey]:
    """The LLMServices that an object names: by its label, which anybody can change or remove, and by its controller."""
    metadata = manifest["metadata"]
    if manifest["kind"] == "LLMService":
        yield metadata["namespace"], metadata["name"]
        return
    if name := (metadata.get("labels") or {}).get(NAME_LABEL):
        yield metadata["namespace"], name
    for owner in metadata.get("ownerReferences") or ():
        if owner.get("kind") == "LLMService" and owner.get("controller"):
            yield metadata["namespace"], owner["name"]


def _says_the_same(before: Manifest, after: Manifest) -> bool:
    if after["kind"] == "EndpointSlice":  # of those of a selector only readiness is kept: their versions change often
        return _without_version(before) == _without_version(after)
    asked = _ASKED.get(after["kind"])
    return asked is not None and all(before["metadata"].get(key) == after["metadata"].get(key) for key in asked)


def _without_version(manifest: Manifest) -> Manifest:
    metadata = {
        key: value for key, value in manifest["metadata"].items() if key not in {"resourceVersion", "generation"}
    }
    return {**manifest, "metadata": metadata}
