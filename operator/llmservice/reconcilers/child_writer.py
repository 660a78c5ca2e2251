"""Writes the children: new ones are created, existing ones force-applied; contested ones meet a back-off."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.changes import CREATED, Apply, Change, Delete
from llmservice.converging.contest import contest
from llmservice.converging.intent import difference, digest_of
from llmservice.converging.observed import Observed
from llmservice.converging.repairs import Repairs, after_write, still_known
from llmservice.converging.replicas import Replicas
from llmservice.errors import Conflict, NameTaken, Refused
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest, Ref
from llmservice.objects.workloads import is_workload
from llmservice.planning.service_plan import Owner

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The children after the writes, who contests them, and when to reconcile again (None: no need to)."""

    children: Mapping[Ref, Manifest]
    contests: tuple[str, ...] = ()
    requeue_seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class ChildWriter:
    """Writes the children of each LLMService and remembers repeated repairs, by its UID.

    `clock` is monotonic, in seconds.
    """

    cluster: Cluster
    cache: ObjectCache
    clock: Callable[[], float] = time.monotonic
    _repairs: dict[str, dict[Ref, Repairs]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    """New resources after their first pass: a child that is created again was deleted by somebody."""

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._repairs.pop(uid, None)
        self._begun.discard(uid)

    async def write(
        self, owner: Owner, changes: tuple[Change, ...], observed: Observed, replicas: Replicas, *, is_new: bool
    ) -> Written:
        """Write in order. `is_new` is true until the resource has a status: its first pass creates all children.

        Raises `NameTaken` when an object to be created exists already, and what `Cluster` raises.
        """
        children = dict(observed.children)
        applies = [change for change in changes if isinstance(change, Apply)]
        self._clear_up(owner.uid, frozenset(change.ref for change in applies))
        is_first = self._is_first(owner.uid, is_new=is_new)
        for change in changes:
            if isinstance(change, Delete):
                await self.cluster.delete(change.ref, uid=change.uid)
                children.pop(change.ref, None)
            elif self._seconds_to_wait(owner, change) > 0:
                await self._hold_back(owner, change)
            else:
                live = children[change.ref] = await self._apply(change, children.get(change.ref), replicas)
                if not (is_first and change.why == CREATED):
                    self._count(owner, change, live)
        return self._written(owner, children, applies)

    def _is_first(self, uid: str, *, is_new: bool) -> bool:
        is_first = is_new and uid not in self._begun
        if is_first:
            self._begun.add(uid)
        elif not is_new:
            self._begun.discard(uid)
        return is_first

    async def _apply(self, change: Apply, before: Manifest | None, replicas: Replicas) -> Manifest:
        intent = change.manifest
        live = await (self._create(intent) if before is None else self._force(_guarded(intent, before, replicas)))
        log.info("%s: %s", change.ref, change.why)
        self.cache.put(live, quietly=True)
        return live

    async def _create(self, manifest: Manifest) -> Manifest:
        try:
            return await self.cluster.apply_new(manifest, manager=OPERATOR)
        except Conflict as conflict:
            raise NameTaken(conflict.reason, conflict.message) from conflict

    async def _force(self, manifest: Manifest) -> Manifest:
        """Apply; when the API server rejects the merge with foreign list elements, replace them."""
        try:
            return await self.cluster.apply(manifest, manager=OPERATOR)
        except Refused:
            return await self.cluster.overwrite(manifest, manager=OPERATOR)

    def _clear_up(self, uid: str, wanted: frozenset[Ref]) -> None:
        left = still_known(self._repairs.get(uid, {}), wanted, self.clock())
        if left:
            self._repairs[uid] = left
        else:
            self._repairs.pop(uid, None)

    def _seconds_to_wait(self, owner: Owner, change: Apply) -> float:
        known = self._repairs.get(owner.uid, {}).get(change.ref)
        return known.seconds_to_wait(_intent(owner, change), self.clock()) if known else 0.0

    async def _hold_back(self, owner: Owner, change: Apply) -> None:
        """Do not write; once for each pause, find out who changes the object."""
        known = self._repairs[owner.uid][change.ref]
        if not known.held_back:
            live = await self.cluster.get(change.ref)
            contested = contest(live, change.manifest, known.changed_at_once)
            log.warning("%s/%s: %s; next repair in %.0f s", owner.namespace, owner.name, contested, known.pause_seconds)
            if (repairs := self._repairs.get(owner.uid)) is not None:  # the resource may have gone meanwhile
                repairs[change.ref] = known.waits(contested)

    def _count(self, owner: Owner, change: Apply, live: Manifest) -> None:
        repairs, changed = self._repairs.setdefault(owner.uid, {}), difference(live, change.manifest)
        repairs[change.ref] = after_write(repairs.get(change.ref), _intent(owner, change), self.clock(), changed)

    def _written(self, owner: Owner, children: Mapping[Ref, Manifest], applies: Iterable[Apply]) -> Written:
        contested = [known for known in self._repairs.get(owner.uid, {}).values() if known.contest]
        pauses = [self._seconds_to_wait(owner, change) for change in applies]
        pauses += [known.seconds_to_quiet(self.clock()) for known in contested]
        return Written(
            children=children,
            contests=tuple(known.contest for known in contested),
            requeue_seconds=min(filter(None, pauses), default=None),
        )


def _intent(owner: Owner, change: Apply) -> str:
    """Identifies an intent: changes with an edit of the resource and with its rendering."""
    return f"{owner.generation} {digest_of(change.manifest)}"


def _guarded(manifest: Manifest, live: Manifest, replicas: Replicas) -> Manifest:
    """An intent that repeats live replicas must not overwrite newer ones: it carries their resourceVersion."""
    if not replicas.live or not is_workload(manifest):
        return manifest
    metadata = {**manifest["metadata"], "resourceVersion": live["metadata"]["resourceVersion"]}
    return {**manifest, "metadata": metadata}
