"""A cluster that is written to only by what is known of its present history."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from llmservice.cluster.cache import ObjectCache, version_of
from llmservice.cluster.cluster import Cluster, Manifests
from llmservice.cluster.history import History
from llmservice.converging.references import Manifest, Ref, ref_of
from llmservice.errors import NotYet

_PATIENCE_SECONDS = 5.0
"""Asking for a version takes milliseconds; a worker waits for it rather than decide anew."""

decided_in: ContextVar[int | None] = ContextVar("decided_in", default=None)
"""The epoch of what was known when a pass began (`History.known_epoch`); None outside of one."""


@dataclass(frozen=True, slots=True)
class OneHistory:
    """`Cluster` that writes nothing while it is in doubt whether what is known still holds (`NotYet`).

    An answer that is older than what was known of its object before the question tells of another history.
    """

    cluster: Cluster
    cache: ObjectCache
    history: History

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object, past every cache; `NotYet` when it belongs to another history."""
        known = self._known(ref)
        live = await self.cluster.get(ref)
        self._look(known, live)
        return live

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind."""
        return await self.cluster.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of a container's log."""
        return await self.cluster.log_tail(ref, container, previous=previous, max_bytes=max_bytes)

    async def apply_new(self, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Server-side apply of what is not there yet, in this history."""
        async with self._settled():
            known = self._known(ref_of(manifest))
            live = await self.cluster.apply_new(manifest, manager=manager, dry_run=dry_run)
        self._look(known, live)
        return live

    async def apply(self, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Server-side apply in this history."""
        async with self._settled():
            known = self._known(ref_of(manifest))
            live = await self.cluster.apply(manifest, manager=manager, dry_run=dry_run)
        self._look(known, live)
        return live

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Replace fields whoever owns them, in this history."""
        async with self._settled():
            known = self._known(ref_of(manifest))
            live = await self.cluster.overwrite(manifest, manager=manager)
        self._look(known, live)
        return live

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status` in this history."""
        async with self._settled():
            known = self._known(ref_of(manifest))
            live = await self.cluster.apply_status(manifest, manager=manager)
        self._look(known, live)
        return live

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Server-side apply of the replicas in this history."""
        async with self._settled():
            await self.cluster.apply_scale(ref, replicas, manager=manager, uid=uid)

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete in this history."""
        async with self._settled():
            await self.cluster.delete(ref, uid=uid)

    async def record(self, event: Manifest) -> None:
        """Create an Event: it tells what was seen, whatever became of it."""
        await self.cluster.record(event)

    @asynccontextmanager
    async def _settled(self) -> AsyncIterator[None]:
        """Wait until all doubts are over; what was decided in another history is void."""
        began_in = decided_in.get()
        epoch = self.history.known_epoch if began_in is None else began_in
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self.history.settled()
        except TimeoutError:
            raise _held("the API server has not told yet whether its data are still the same") from None
        if epoch != self.history.epoch:
            raise _held("it was decided by what is no longer so")
        yield

    def _known(self, ref: Ref) -> tuple[int, int]:
        """The version in the cache, and the epoch it belongs to; no version while that is in doubt."""
        known = self.cache.get(ref) if self.history.is_settled() else None
        return (-1 if known is None else version_of(known)), self.history.epoch

    def _look(self, known: tuple[int, int], live: Manifest | None) -> None:
        version, epoch = known
        told = version if live is None else version_of(live)
        if live is not None and 0 <= told < version:
            if epoch == self.history.epoch:
                self.history.went_back(str(ref_of(live)), version, told)
            raise _held("the API server's data are those of another time")


def _held(why: str) -> NotYet:
    return NotYet("AnotherHistory", f"nothing was written: {why}; everything is looked at again")
