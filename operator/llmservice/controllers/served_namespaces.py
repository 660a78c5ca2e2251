"""Which namespaces can be served: those whose objects may be listed. One without its Role does not delay the others."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field

from llmservice.cluster.watching.informer import Informer
from llmservice.errors import NotYet
from llmservice.reconcilers.workers import Reconcile, ServiceKey


@dataclass(slots=True)
class ServedNamespaces:
    """The informers by the namespace they watch; the empty name stands for all of the cluster."""

    informers: Collection[Informer]
    _by_namespace: dict[str, list[Informer]] = field(init=False)

    def __post_init__(self) -> None:
        self._by_namespace = defaultdict(list)
        for informer in self.informers:
            self._by_namespace[informer.selection.namespace].append(informer)

    async def settled(self) -> None:
        """Return when every list was answered, if only by a refusal, and one namespace is listed completely."""
        await asyncio.gather(*(informer.answered.wait() for informer in self.informers))
        whole = [asyncio.create_task(_whole(informers)) for informers in self._by_namespace.values()]
        try:
            await asyncio.wait(whole, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in whole:
                task.cancel()

    def is_listed(self, namespace: str) -> bool:
        """Whether a namespace's objects are in the cache; false for one that no informer watches."""
        informers = self._by_namespace.get(namespace) or self._by_namespace.get("") or []
        return bool(informers) and all(informer.synced.is_set() for informer in informers)

    def refusal_in(self, namespace: str) -> str:
        """What the API server says of the first list there that it refuses; empty when it refuses none."""
        informers = self._by_namespace.get(namespace) or ()
        return next((f"{item.selection.kind}: {item.refusal}" for item in informers if item.refusal), "")

    def unlisted(self) -> tuple[str, ...]:
        """The namespaces that cannot be served now."""
        return tuple(namespace for namespace in self._by_namespace if not self.is_listed(namespace))

    def any_listed(self) -> bool:
        """Whether there is something to serve; may be called from any thread."""
        return any(map(self.is_listed, self._by_namespace))


@dataclass(frozen=True, slots=True)
class OnlyListed:
    """A reconciler that waits until a namespace is listed: children that are not seen would be created again.

    `refused` is called for a resource whose namespace may not be listed.
    """

    reconcile: Reconcile
    namespaces: ServedNamespaces
    refused: Callable[[ServiceKey, str], Awaitable[float | None]]

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass; raises `NotYet` while the namespace is neither listed nor refused."""
        namespace, _ = key
        if self.namespaces.is_listed(namespace):
            return await self.reconcile(key)
        if why := self.namespaces.refusal_in(namespace):
            return await self.refused(key, why)
        raise NotYet("NamespaceNotListed", f"the objects in {namespace} could not be listed yet")


async def _whole(informers: Iterable[Informer]) -> None:
    await asyncio.gather(*(informer.synced.wait() for informer in informers))
