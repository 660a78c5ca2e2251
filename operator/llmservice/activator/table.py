"""From the slices in the cache to listeners and desks: looked at again whenever one changes."""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.activator.hall import Hall
from llmservice.activator.listeners import Listeners
from llmservice.activator.slices import Served, kept_of_slice, served
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.objects.references import Manifest

log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS = 0.02
_SHARE = 10.0
"""A look costs at most a tenth of a core, however often slices change."""

_AGAIN_SECONDS = 5.0
"""Until a port is tried again that could not be taken."""


@dataclass(slots=True)
class Table:
    """Keeps hall and listeners to what the slices say. `slices` is filled by informers."""

    hall: Hall
    listeners: Listeners
    slices: ObjectCache = field(default_factory=lambda: ObjectCache(keep=kept_of_slice))
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.slices.listen(self._notice)

    async def run(self) -> NoReturn:
        """Look, now and after each change; never returns."""
        while True:
            self._changed.clear()
            started = time.thread_time()
            complete = await self.look()
            pause = max(_SHORTEST_PAUSE_SECONDS, _SHARE * (time.thread_time() - started))
            await asyncio.sleep(pause)
            await self._wait(None if complete else _AGAIN_SECONDS)

    async def look(self) -> bool:
        """Once; false when a port could not be taken."""
        async with self._looking:
            by_port, without = served(self.slices.of_kind("EndpointSlice"))
            self._tell(by_port, without)
            for port in self.hall.use(by_port):
                self.listeners.connections.hang_up_idle(port)  # its clients meant another service
            return self.hall.closing or self.listeners.listen_on(by_port)

    async def _wait(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return

    def _notice(self, _before: Manifest | None, _after: Manifest | None) -> None:
        self._changed.set()

    def _tell(self, by_port: dict[int, Served], without: tuple[Served, ...]) -> None:
        for port, each in by_port.items():
            known = self.hall.desks.get(port)
            if known is None or str(known.served) != str(each):
                log.info("port %d: requests for %s", port, each)
        for each in without:
            if each.uid not in self._without:
                log.error(
                    "%s names port %d, which is %s's: nothing is held for it", each, each.port, by_port[each.port]
                )
        self._without = frozenset(each.uid for each in without)
