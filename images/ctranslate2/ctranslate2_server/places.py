"""Places for requests: so many run, so many wait, the rest is refused."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ctranslate2_server.errors import Busy


class Places:
    """First come, first served. Used by one event loop."""

    def __init__(self, most_running: int, most_waiting: int) -> None:
        self._most_running, self._most_waiting = most_running, most_waiting
        self._queue: deque[asyncio.Future[None]] = deque()
        self.running = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while the block runs; raises Busy when the queue is full too."""
        await self._take()
        try:
            yield
        finally:
            self._give_back()

    async def _take(self) -> None:
        if self.running < self._most_running:
            self.running += 1
            return
        if len(self._queue) >= self._most_waiting:
            raise Busy(f"{self.running} requests run and {self.waiting} wait; try again later")
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._left(turn)
            raise

    def _left(self, turn: asyncio.Future[None]) -> None:
        """Whoever leaves the queue in the very moment of getting a place hands it on."""
        if turn in self._queue:
            self._queue.remove(turn)
        elif not turn.cancelled():
            self._give_back()

    def _give_back(self) -> None:
        """The place goes to the first who still waits."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1
