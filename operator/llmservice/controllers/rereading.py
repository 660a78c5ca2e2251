"""After etcd was restored to older data: LLMServices are listed again, and kopf is restarted."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from typing import NoReturn, Protocol

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.cluster.watching.one_history import decided_in
from llmservice.errors import NotFound, OperatorError, Refused
from llmservice.reconcilers.workers import Reconcile, ServiceKey

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0


class Kopf(Protocol):
    """What watches LLMServices."""

    def begin_anew(self) -> None:
        """Forget what was heard, and list."""
        ...


@dataclass(slots=True, kw_only=True)
class Rereading:
    """Lists again what no informer watches. Its construction registers every selection that a new history must list."""

    connection: Connection
    cache: ObjectCache
    history: History
    kopf: Kopf
    informers: InitVar[Iterable[Informer]]
    _services: tuple[Informer, ...] = field(init=False)
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self, informers: Iterable[Informer]) -> None:
        watched = tuple(informers)
        self._services = tuple(
            Informer(
                connection=self.connection,
                cache=self.cache,
                selection=Selection(kind="LLMService", namespace=namespace),
                history=self.history,
            )
            for namespace in dict.fromkeys(informer.selection.namespace for informer in watched)
        )
        self.history.members.update(informer.selection.name for informer in (*watched, *self._services))

    async def run(self) -> NoReturn:
        """Wait for another history and read; for ever."""
        with self.history.calling(self._wanted.set):
            while True:
                await self._wanted.wait()
                self._wanted.clear()
                self.kopf.begin_anew()
                await asyncio.gather(*map(self._read, self._services))

    async def _read(self, services: Informer) -> None:
        """Until they are listed, or listing is refused."""
        while not self._wanted.is_set():
            try:
                return await services.relist()
            except OperatorError as error:
                log.warning("%s: %s", services.selection.name, error)
                # A kind that is not found is not refused: an API server that just started serves it a moment later.
                if isinstance(error, Refused) and not isinstance(error, NotFound):
                    return self.history.refused(services.selection.name)
                await asyncio.sleep(_AGAIN_SECONDS)
        return None


@dataclass(frozen=True, slots=True)
class WithinHistory:
    """A reconciler whose writes never outlive the history in which they were decided.

    While a new history is being listed the cache still holds the old one: a pass that begins then may not write either.
    """

    reconcile: Reconcile
    history: History

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass."""
        decided_in.set(self.history.known_epoch)
        return await self.reconcile(key)
