"""A cluster that only the leader writes to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from llmservice.cluster.cluster import Cluster, Manifests
from llmservice.cluster.lease import NotLeader
from llmservice.converging.references import Manifest, Ref


class Leadership(Protocol):
    """Knows until when this process may write: `Election`."""

    def seconds_left(self) -> float:
        """Seconds until the deadline; negative or zero without leadership."""
        ...


@dataclass(frozen=True, slots=True)
class LeaderOnly:
    """`Cluster` that reads always and writes only before the deadline; a write under way then is cut off (`NotLeader`).

    A write that was cut off may have been applied, as after any broken connection: the next pass looks.
    """

    cluster: Cluster
    leadership: Leadership

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object, past every cache; None when it is not there."""
        return await self.cluster.get(ref)

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind."""
        return await self.cluster.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of a container's log."""
        return await self.cluster.log_tail(ref, container, previous=previous, max_bytes=max_bytes)

    async def apply_new(self, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Server-side apply of what is not there yet, while leading."""
        async with self._leading():
            return await self.cluster.apply_new(manifest, manager=manager, dry_run=dry_run)

    async def apply(self, manifest: Manifest, *, manager: str, dry_run: bool = False) -> Manifest:
        """Server-side apply while leading."""
        async with self._leading():
            return await self.cluster.apply(manifest, manager=manager, dry_run=dry_run)

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Replace fields whoever owns them, while leading."""
        async with self._leading():
            return await self.cluster.overwrite(manifest, manager=manager)

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status` while leading."""
        async with self._leading():
            return await self.cluster.apply_status(manifest, manager=manager)

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Server-side apply of the replicas while leading."""
        async with self._leading():
            await self.cluster.apply_scale(ref, replicas, manager=manager, uid=uid)

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete while leading."""
        async with self._leading():
            await self.cluster.delete(ref, uid=uid)

    async def record(self, event: Manifest) -> None:
        """Create an Event while leading."""
        async with self._leading():
            await self.cluster.record(event)

    @asynccontextmanager
    async def _leading(self) -> AsyncIterator[None]:
        left = self.leadership.seconds_left()
        if left <= 0:
            raise NotLeader
        try:
            async with asyncio.timeout(left):
                yield
        except TimeoutError as error:
            raise NotLeader from error
