"""One page for all requests of a moment: rendered once, kept briefly."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_LEAST_SECONDS, _MOST_SECONDS = 1.0, 10.0
_REST_PER_WORK = 9.0
"""Nine parts rest for one part work: however many ask, making pages takes at most a tenth of a core."""


@dataclass(slots=True, kw_only=True)
class SharedPage:
    """`make` runs in a thread of its own and never twice at once.

    A page is reused for a second, or for as long as keeps the rendering below a tenth of a core, ten seconds at most.
    Belongs to one event loop. `clock` gives monotonic seconds.
    """

    make: Callable[[], bytes]
    clock: Callable[[], float] = time.monotonic
    _making: asyncio.Task[bytes] | None = None
    _good_until: float = 0.0

    def page(self) -> Awaitable[bytes]:
        """The page; a caller that gives up waiting cancels it for nobody else. Raises what `make` raises."""
        if self._making is None or (self._making.done() and self._is_over(self._making)):
            self._making = asyncio.create_task(self._made())
        return asyncio.shield(self._making)

    def _is_over(self, making: asyncio.Task[bytes]) -> bool:
        return self.clock() >= self._good_until or making.cancelled() or making.exception() is not None

    async def _made(self) -> bytes:
        began = self.clock()
        page = await asyncio.to_thread(self.make)
        now = self.clock()
        self._good_until = now + min(_MOST_SECONDS, max(_LEAST_SECONDS, _REST_PER_WORK * (now - began)))
        return page
