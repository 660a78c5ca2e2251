"""Observes the state of an LLMService: from caches, and from the API server only where caches cannot know."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from llmservice.api.v1alpha1.resource import KIND
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.observed import Observed
from llmservice.errors import OwnerGone
from llmservice.objects.groups import is_worker
from llmservice.objects.pods import of_current_template, pods_of, replicas_among
from llmservice.objects.references import (
    Manifest,
    Ref,
    controller_of,
    controller_uid,
    is_being_deleted,
    ref_of,
    uid_of,
)
from llmservice.objects.workloads import WORKLOADS, newest_of
from llmservice.planning.service_plan import Owner
from llmservice.reconcilers.pod_insight import PodInsight


def _every_kind_is_there(_: str) -> Mapping[str, str]:
    return {}


@dataclass(slots=True)
class Observer:
    """Reads the observed state of one LLMService. `absent` tells which kinds a namespace lacks, and why."""

    cluster: Cluster
    cache: ObjectCache
    child_kinds: tuple[str, ...]
    absent: Callable[[str], Mapping[str, str]] = _every_kind_is_there
    insight: PodInsight = field(init=False)

    def __post_init__(self) -> None:
        self.insight = PodInsight(self.cluster)

    async def observe(self, owner: Owner, names: Iterable[Ref], *, asking: bool = False) -> Observed:
        """The observed state of a resource; `names` are the children it needs.

        When a child is not in the cache, the resource itself is read live (raises `OwnerGone`), so that nothing is
        created for a deleted one. The child is read live only with `asking`: creating it cannot overwrite an object of
        that name, and fails with a conflict if there is one.
        """
        children = self._children(owner)
        absent = self.absent(owner.namespace)
        unknown = [ref for ref in names if ref not in children and ref.kind not in absent]
        taken: dict[Ref, Manifest] = {}
        if unknown:
            asked = unknown if asking else []
            _, *found = await asyncio.gather(self._confirm(owner), *map(self.cluster.get, asked))
            for ref, live in zip(asked, found, strict=True):
                if live is not None:
                    (children if controller_uid(live) == owner.uid else taken)[ref] = live
        made = self._made(owner)
        pods, insight = replicas_among(made), await self.insight.read(made)
        return Observed(
            children=children,
            taken=taken,
            pods=pods,
            workers=tuple(filter(is_worker, made)),
            updated=of_current_template(self.workload(owner), self._replica_sets(owner), pods),
            log_tails=insight.log_tails,
            preparations=insight.preparations,
            absent=absent,
            requeue_seconds=insight.requeue_seconds,
        )

    def workload(self, owner: Owner) -> Manifest | None:
        """The workload in the cache; None when there is none of ours."""
        children = self._children(owner)
        found = (children.get(Ref(kind, owner.namespace, owner.name)) for kind in WORKLOADS)
        return newest_of(each for each in found if each is not None)

    def pods(self, owner: Owner) -> tuple[Manifest, ...]:
        """The pods that answer clients, from the cache: one for each replica."""
        return replicas_among(self._made(owner))

    def _made(self, owner: Owner) -> tuple[Manifest, ...]:
        """All pods of its workload."""
        pods = self.cache.of_service("Pod", owner.namespace, owner.name)
        return pods_of(self.workload(owner), self._replica_sets(owner), pods)

    def _replica_sets(self, owner: Owner) -> tuple[Manifest, ...]:
        return self.cache.of_service("ReplicaSet", owner.namespace, owner.name)

    def _children(self, owner: Owner) -> dict[Ref, Manifest]:
        """The children, by owner UID and owner kind: of objects with another owner kind the cache keeps no spec."""
        return {
            ref_of(live): live
            for kind in self.child_kinds
            for live in self.cache.of_service(kind, owner.namespace, owner.name)
            if controller_uid(live) == owner.uid and controller_of(live).get("kind") == KIND
        }

    async def _confirm(self, owner: Owner) -> None:
        live = await self.cluster.get(Ref("LLMService", owner.namespace, owner.name))
        if live is None or uid_of(live) != owner.uid or is_being_deleted(live):
            raise OwnerGone(owner.namespace, owner.name, owner.uid)
