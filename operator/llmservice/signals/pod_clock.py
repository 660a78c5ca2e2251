"""The time that one answer may take; it is paused while the pod waits for room on our side."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class PodClock:
    """Runs out after `pod_seconds`, or with the round at `end` (time of the loop).

    `running` is the block that raises TimeoutError then, to be used once.
    """

    def __init__(self, pod_seconds: float, end: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._began, self._end, self._waited = self._loop.time(), end, 0.0
        self.given_seconds = min(pod_seconds, end - self._began)
        self.running = asyncio.timeout_at(self._began + self.given_seconds)
        self.is_stopped = False

    @property
    def seconds(self) -> float:
        """How long the pod has taken."""
        return self._loop.time() - self._began - self._waited

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """A block whose time does not count against the pod. If the round ends in it, `is_stopped` stays true."""
        began, left = self._loop.time(), (self.running.when() or self._end) - self._loop.time()
        self.is_stopped = True
        self.running.reschedule(self._end)
        yield
        self.is_stopped = False
        self._waited += self._loop.time() - began
        self.running.reschedule(min(self._end, self._loop.time() + left))
