"""Memory for the answers in flight, reserved before it is filled, in two steps that cannot wait for each other.

First a connection, with room for its buffers and the first part of a page. A page that is larger waits, unread, until
it has room for all the rest. Who has that waits for nothing but its pod, which has seconds: no deadlock.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from llmservice.signals.turns import FairQueue

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
    """Places for large pages, of which a namespace may hold as many as stay free."""

    def __init__(self, places: int, is_new: Callable[[str], bool]) -> None:
        self.places = places
        self.queue = FairQueue(is_new)

    def give(self) -> None:
        """Give what may be given."""
        while (held := self.queue.places_of_next()) is not None and held < self.places - self.queue.total:
            self.queue.grant()


class ByteBudget:
    """Room for `connections` at once, and for the rest of `large_pages` pages of `page_bytes`.

    A quarter of both is for pods that were slow. Of the connections, either kind gets more while the other waits for
    none.
    Of the rests a namespace may hold as many as stay free for others (half of them, where nobody else has any). A
    namespace that is new comes after one that is known and holds as much.
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
        self._asking, self._asking_slow = FairQueue(is_new), FairQueue(is_new)
        slow = max(1, large_pages // 4)
        self._rests, self._rests_slow = _Rests(max(1, large_pages - slow), is_new), _Rests(slow, is_new)
        places = self._rests.places + self._rests_slow.places
        self.total_bytes = connections * CONNECTION_BYTES + places * self._rest_bytes

    @property
    def held_bytes(self) -> int:
        """What is reserved now."""
        connections = self._asking.total + self._asking_slow.total
        rests = self._rests.queue.total + self._rests_slow.queue.total
        return connections * CONNECTION_BYTES + rests * self._rest_bytes

    @asynccontextmanager
    async def connection(self, namespace: str, *, is_slow: bool) -> AsyncIterator[None]:
        """Room for a connection and the first part of a page, as long as the block runs."""
        async with _held(self._asking_slow if is_slow else self._asking, namespace, self._give_connections):
            yield

    @asynccontextmanager
    async def rest(self, namespace: str, *, is_slow: bool) -> AsyncIterator[None]:
        """Room for the rest of a page, as long as the block runs."""
        rests = self._rests_slow if is_slow else self._rests
        async with _held(rests.queue, namespace, rests.give):
            yield

    def _give_connections(self) -> None:
        while queue := self._next_to_ask():
            queue.grant()

    def _next_to_ask(self) -> FairQueue | None:
        usual, slow = self._asking, self._asking_slow
        if usual.total + slow.total >= self._connections:
            return None
        usual_wait, slow_wait = usual.places_of_next() is not None, slow.places_of_next() is not None
        if usual_wait and (usual.total < self._connections - self._reserved or not slow_wait):
            return usual
        return slow if slow_wait and (slow.total < self._reserved or not usual_wait) else None


@asynccontextmanager
async def _held(queue: FairQueue, namespace: str, give: Callable[[], None]) -> AsyncIterator[None]:
    turn = queue.ask(namespace)
    asyncio.get_running_loop().call_soon(give)  # when all that ask in this round of the loop have asked
    try:
        await turn
    except asyncio.CancelledError:
        if turn.done() and not turn.cancelled():  # given and cancelled in the same moment
            queue.give_back(namespace)
            give()
        raise
    try:
        yield
    finally:
        queue.give_back(namespace)
        give()
