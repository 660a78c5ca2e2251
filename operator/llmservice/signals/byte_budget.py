"""Memory for the answers in flight, reserved before it is filled, in two steps that cannot deadlock.

First a connection, with room for its buffers and the first part of a page. A larger page waits, unread, until there is
room for all the rest of it. From then on it waits for its pod alone, and that has a time limit.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from llmservice.fairness.fair_queue import FairQueue
from llmservice.fairness.slots import Waiting, grant, holding

FIRST_BYTES = 64 * 2**10
"""Of a page: what most engines answer with (vLLM 0.32: 52 kB)."""
RECEIVE_BYTES = 32 * 2**10
"""SO_RCVBUF of a connection. Linux doubles it, and hands over at most three quarters of that at once.

Half of it would cost 40 % more CPU for each pod, twice as much saves nothing (bench_scrape.py).
"""
BUFFERED_BYTES = 4 * 2**10
"""aiohttp stops reading ahead when it holds more than twice this."""
_READ_BYTES = 2 * BUFFERED_BYTES + 3 * RECEIVE_BYTES // 2
"""The most that is read at once, and the most that is read ahead: what was held, and what came on top of it."""
_ITSELF_BYTES = 16 * 2**10
"""What a connection takes without a page, headers included."""
CONNECTION_BYTES = _ITSELF_BYTES + (FIRST_BYTES + _READ_BYTES) * 9 // 8 + _READ_BYTES
"""What a connection may take before it has room for the rest. A bytearray that grows is an eighth larger."""


class _Rests:
    """Places for large pages, of which a namespace may hold as many as were free before it took its last."""

    def __init__(self, places: int, is_new: Callable[[str], bool]) -> None:
        self.places = places
        self.queue: Waiting[str] = FairQueue(times_free=1.0, spare=0, is_new=is_new)

    def grant_all(self) -> None:
        """Grant what may be granted."""
        while grant(self.queue, self.places - self.queue.held):
            pass


class ByteBudget:
    """Room for `connections` at once, and for the rest of `large_pages` pages of `page_bytes`.

    Room goes to the namespace that holds the least, and among those to the ones that are not new. A quarter of both
    is for pods that were slow; of the connections, either kind gets more while nobody of the other kind waits. Of the
    places for rests a namespace may hold as many as it leaves free, so half of them where it is alone.
    """

    def __init__(
        self,
        *,
        page_bytes: int,
        connections: int,
        large_pages: int,
        is_new: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._rest_bytes = max(0, page_bytes - FIRST_BYTES) * 9 // 8
        self._connections = connections
        self._reserved = connections // 4
        self._usual: Waiting[str] = FairQueue(is_new=is_new)
        self._slow: Waiting[str] = FairQueue(is_new=is_new)
        slow = max(1, large_pages // 4)
        self._rests, self._rests_slow = _Rests(max(1, large_pages - slow), is_new), _Rests(slow, is_new)
        places = self._rests.places + self._rests_slow.places
        self.total_bytes = connections * CONNECTION_BYTES + places * self._rest_bytes

    @property
    def held_bytes(self) -> int:
        """What is reserved now."""
        connections = self._usual.held + self._slow.held
        rests = self._rests.queue.held + self._rests_slow.queue.held
        return connections * CONNECTION_BYTES + rests * self._rest_bytes

    def connection(self, namespace: str, *, is_slow: bool) -> AbstractAsyncContextManager[None]:
        """Room for a connection and the first part of a page, as long as the block runs."""
        return holding(self._slow if is_slow else self._usual, namespace, self._grant_connections)

    def rest(self, namespace: str, *, is_slow: bool) -> AbstractAsyncContextManager[None]:
        """Room for the rest of a page, as long as the block runs."""
        rests = self._rests_slow if is_slow else self._rests
        return holding(rests.queue, namespace, rests.grant_all)

    def _grant_connections(self) -> None:
        while queue := self._next_queue():
            grant(queue, free=1, leave_room=False)

    def _next_queue(self) -> Waiting[str] | None:
        """Whose turn it is to connect; None when nobody's."""
        usual, slow = self._usual, self._slow
        if usual.held + slow.held >= self._connections:
            return None
        if usual and (usual.held < self._connections - self._reserved or not slow):
            return usual
        return slow if slow and (slow.held < self._reserved or not usual) else None
