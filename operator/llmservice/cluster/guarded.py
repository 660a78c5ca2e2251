"""A cluster wrapped around another one: every write, and every answer, passes a guard."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeVar

from llmservice.cluster.cluster import Cluster, Manifests
from llmservice.objects.references import Manifest, Ref, ref_of

Live = TypeVar("Live", bound=Manifest | None)


@dataclass(frozen=True, slots=True)
class Guarded(ABC):
    """`Cluster` whose every write happens within `writing`; lists and logs are passed through."""

    cluster: Cluster

    @abstractmethod
    def writing(self) -> AbstractAsyncContextManager[None]:
        """Raises when nothing may be written now."""
        ...

    async def answer(self, ref: Ref, asked: Awaitable[Live]) -> Live:  # noqa: ARG002  (for those who compare)
        """What the API server answers to a question or a write about one object."""
        return await asked

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object, past every cache; None when it is not there."""
        return await self.answer(ref, self.cluster.get(ref))

    async def list(
        self, kind: str, namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Manifests:
        """All selected objects of one kind."""
        return await self.cluster.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)

    async def log_tail(self, ref: Ref, container: str, *, previous: bool, max_bytes: int = 65_536) -> str:
        """The end of a container's log."""
        return await self.cluster.log_tail(ref, container, previous=previous, max_bytes=max_bytes)

    async def log_head(self, ref: Ref, container: str, *, max_bytes: int = 65_536) -> str:
        """The beginning of a container's log."""
        return await self.cluster.log_head(ref, container, max_bytes=max_bytes)

    async def apply_new(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply of what is not there yet."""
        async with self.writing():
            asked = self.cluster.apply_new(manifest, manager=manager)
            return await self.answer(ref_of(manifest), asked)

    async def post(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Create an object that is never changed afterwards."""
        async with self.writing():
            return await self.answer(ref_of(manifest), self.cluster.post(manifest, manager=manager))

    async def apply(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Server-side apply to a known object."""
        async with self.writing():
            asked = self.cluster.apply(manifest, manager=manager)
            return await self.answer(ref_of(manifest), asked)

    async def overwrite(self, manifest: Manifest, *, manager: str) -> Manifest:
        """Replace fields whoever owns them."""
        async with self.writing():
            return await self.answer(ref_of(manifest), self.cluster.overwrite(manifest, manager=manager))

    async def apply_status(self, manifest: Manifest, *, manager: str) -> Manifest | None:
        """Server-side apply of `status`."""
        async with self.writing():
            return await self.answer(ref_of(manifest), self.cluster.apply_status(manifest, manager=manager))

    async def apply_scale(self, ref: Ref, replicas: int, *, manager: str, uid: str = "") -> None:
        """Server-side apply of the replicas."""
        async with self.writing():
            await self.cluster.apply_scale(ref, replicas, manager=manager, uid=uid)

    async def delete(self, ref: Ref, *, uid: str) -> None:
        """Delete exactly the object with this UID."""
        async with self.writing():
            await self.cluster.delete(ref, uid=uid)

    async def evict(self, ref: Ref, *, uid: str, grace_seconds: int) -> None:
        """Have exactly the pod with this UID deleted, as far as its disruption budget allows."""
        async with self.writing():
            await self.cluster.evict(ref, uid=uid, grace_seconds=grace_seconds)

    async def record(self, event: Manifest) -> None:
        """Create an Event."""
        async with self.writing():
            await self.cluster.record(event)
