"""A cluster that is written to only from knowledge of its present history."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from llmservice.cluster.caching.cache import ObjectCache, version_of
from llmservice.cluster.guarded import Guarded, Live
from llmservice.cluster.watching.history import History
from llmservice.errors import NotYet
from llmservice.objects.references import Manifest, Ref

_PATIENCE_SECONDS = 5.0
"""Asking for a version takes milliseconds; a worker waits for it rather than decide anew."""

decided_in: ContextVar[int | None] = ContextVar("decided_in", default=None)
"""The epoch of what was known when a pass began (`History.known_epoch`); None outside of one."""


@dataclass(frozen=True, slots=True)
class OneHistory(Guarded):
    """`Cluster` that writes nothing (`NotYet`) while it is not certain that the cache belongs to the present history.

    A response that is older than the version cached before the request belongs to another history.
    """

    cache: ObjectCache
    history: History

    async def answer(self, ref: Ref, asked: Awaitable[Live]) -> Live:
        """The answer; `NotYet` when it belongs to another history."""
        known = self._known(ref)
        live = await asked
        self._look(ref, known, live)
        return live

    async def record(self, event: Manifest) -> None:
        """Create an Event: it reports an observation, whatever became of it."""
        await self.cluster.record(event)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Wait until no selection is in doubt; a decision made in another history is void."""
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

    def _look(self, ref: Ref, known: tuple[int, int], live: Manifest | None) -> None:
        """Whether the answer belongs to the history in which it was asked for."""
        version, epoch = known
        told = version if live is None else version_of(live)
        if epoch == self.history.epoch and 0 <= told < version:
            self.history.went_back(str(ref), version, told)
        if epoch != self.history.epoch:
            raise _held("the API server's data are those of another time")


def _held(why: str) -> NotYet:
    return NotYet("AnotherHistory", f"nothing was written: {why}; everything is looked at again")
