"""What no watch tells: LLMServices that vanished while kopf listed, and whatever a watch lost without a word.

All that is watched is counted every few minutes, a page at a time with pauses between, and at once where somebody asks.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.caching.cache import ObjectCache, version_of
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.census import Counted, Page, census
from llmservice.cluster.watching.history import History
from llmservice.cluster.watching.listing import Selection
from llmservice.errors import OperatorError
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from llmservice.pauses import jittered
from llmservice.rendering.http_route import ROUTE_KINDS
from llmservice.rendering.manifests import CHILD_KINDS

log = logging.getLogger(__name__)

WATCHED = ("LLMService", *CHILD_KINDS, *ROUTE_KINDS, "ReplicaSet", "Pod")
"""The kinds that are always watched, all but the first by our label."""

_EVERY_SECONDS = 250.0
_SPREAD_SECONDS = 120.0
"""Over so long the pages are spread; what is lost right after a page was read is noticed within the sum of both."""

_LONGEST_PAUSE_SECONDS = 1.0
_PER_PAGE = 100
_AGAIN_SECONDS = 10.0
_SETTLE_SECONDS = 1.0
"""Time for kopf to tell what it lists, so that the resync need not fetch it, and for several wishes to become one."""


class Lister(Protocol):
    """What the resync asks of an API server."""

    def census(self, selection: Selection) -> AsyncIterator[Page]:
        """All selected objects, as far as it takes to know them again, page by page."""
        ...

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class ApiLister:
    """A real API server."""

    connection: Connection

    def census(self, selection: Selection) -> AsyncIterator[Page]:
        """All selected objects, page by page."""
        return census(self.connection, selection)

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        return await ApiServer(self.connection).get(ref)


Pause = Callable[[], Awaitable[None]]
"""Awaited after each page."""


@dataclass(slots=True, kw_only=True)
class Resync:
    """Compares the cache with what is there: forgets what is gone, fetches what is unknown or another one.

    A whole round every few minutes, spread over time; at once, a moment after `wanted` is set; and sooner again in a
    namespace where it failed; `absent` tells the kinds that a namespace lacks, which are left out. The first one comes
    after a period: informers and kopf have just listed everything. `kinds` are those that are watched.
    """

    api: Lister
    cache: ObjectCache
    history: History = field(default_factory=History)
    namespaces: tuple[str, ...] = ("",)
    absent: Callable[[str], Collection[str]] = lambda _: ()
    kinds: tuple[str, ...] = WATCHED
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    _told: dict[str, str] = field(default_factory=dict)

    async def run(self) -> NoReturn:
        """Resync until cancelled."""
        now = asyncio.get_running_loop().time
        due: tuple[str, ...] = ()
        pause, round_at = self._slowly(), now() + jittered(_EVERY_SECONDS, 0.2)
        while True:
            try:
                failed = tuple([namespace for namespace in due if not await self._swept(namespace, pause)])
                await self._rest(min(round_at - now(), jittered(_AGAIN_SECONDS, 0.2)) if failed else round_at - now())
            except _Wanted:
                await asyncio.sleep(_SETTLE_SECONDS)
                self.wanted.clear()
                due, pause, round_at = self.namespaces, _at_once, now() + jittered(_EVERY_SECONDS, 0.2)
            else:
                is_round = now() >= round_at
                due, pause = (self.namespaces, self._slowly()) if is_round else (failed, _at_once)
                round_at = now() + jittered(_EVERY_SECONDS, 0.2) if is_round else round_at

    async def resync(self, namespace: str, pause: Pause) -> None:
        """All kinds of a namespace that it has, once; raises `OperatorError`."""
        for kind in self.kinds:
            if kind in self.absent(namespace):
                continue
            selector = "" if kind == "LLMService" else NAME_LABEL
            await self._kind(
                Selection(kind=kind, namespace=namespace, label_selector=selector, metadata_only=True), pause
            )

    async def _kind(self, selection: Selection, pause: Pause) -> None:
        kind, listed, version = selection.kind, set[tuple[str, str]](), -1
        await self.history.settled()
        epoch, heard = self.history.epoch, self.cache.newest(kind)
        async for page in self.api.census(selection):
            version = page.version
            if epoch == self.history.epoch and version < heard:
                self.history.went_back(selection.name, heard, version)
            if epoch != self.history.epoch:
                return  # everything is listed again
            for item in page.objects:
                listed.add((item.namespace, item.name))
                await self._look(kind, item, page.version, epoch)
            await pause()
        if epoch != self.history.epoch:
            return  # what was listed is of another history
        for body in self.cache.of_kind(kind, selection.namespace):
            ref = ref_of(body)
            if (ref.namespace, ref.name) not in listed and version_of(body) <= version:
                _forget(self.cache, ref, body)

    async def _look(self, kind: str, item: Counted, version: int, epoch: int) -> None:
        """Fetch the object unless it is known as it is listed; what is newer than the list was told by a watch.

        `epoch` is the history of the list: of another one it tells nothing.
        """
        if epoch != self.history.epoch:
            return
        ref = Ref(kind, item.namespace, item.name)
        known = self.cache.get(ref)
        if known is not None:
            metadata = known["metadata"]
            if metadata.get("resourceVersion") == item.version and metadata.get("uid") == item.uid:
                return
            if version_of(known) > version:
                return
            if uid_of(known) != item.uid:
                _forget(self.cache, ref, known)
        live = await self.api.get(ref)
        if live is not None and epoch == self.history.epoch:
            self.cache.put(live, true_at=version)

    async def _swept(self, namespace: str, pause: Pause) -> bool:
        """Resync; a failure is told once, until it is another one."""
        try:
            await self.resync(namespace, pause)
        except OperatorError as error:
            if self._told.get(namespace) != str(error):
                log.warning("resync of %s: %s", namespace or "all namespaces", error)
            self._told[namespace] = str(error)
            return False
        self._told.pop(namespace, None)
        return True

    def _slowly(self) -> Pause:
        """A pause after each page, so that a round takes about as long with few objects as with many."""
        pages = max(len(self.cache) / _PER_PAGE, len(self.kinds) * len(self.namespaces))
        seconds = min(_LONGEST_PAUSE_SECONDS, _SPREAD_SECONDS / pages)

        async def pause() -> None:
            await self._rest(seconds)

        return pause

    async def _rest(self, seconds: float) -> None:
        """Until then; raises `_Wanted` when somebody asks for a resync."""
        try:
            # Not wait_for: that of Python 3.11 loses the cancellation that comes together with the event.
            async with asyncio.timeout(seconds):
                await self.wanted.wait()
        except TimeoutError:
            return
        raise _Wanted


class _Wanted(Exception):
    """Somebody asks for a resync now."""


async def _at_once() -> None:
    """No pause."""


def _forget(cache: ObjectCache, ref: Ref, body: Manifest) -> None:
    if cache.drop(ref, version_of(body)):
        log.info("%s is gone: forgotten", ref)
