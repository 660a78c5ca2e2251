"""A file in pieces that are asked for at the same time and come out in order.

The slots bound the pieces of all files that are asked for or wait to be written, so the memory that they take. A file
takes its first slot in its turn and further ones only while some are free: the piece that is written next always has
one, and nobody waits for ever.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from llmservice.download.source import PIECE

Read = Callable[[int, int], Awaitable[bytes]]
"""The bytes of a file between two positions; raises DownloadFailed."""


@dataclass(slots=True)
class _Window:
    read: Read
    slots: asyncio.Semaphore
    begin: int
    end: int
    asked: deque[asyncio.Task[bytes]] = field(default_factory=deque)

    async def fill(self) -> bool:
        """Ask for what slots there are; false at the end of the file."""
        while self.begin < self.end and not (self.asked and self.slots.locked()):
            await self.slots.acquire()
            end = min(self.begin + PIECE, self.end)
            self.asked.append(asyncio.ensure_future(self._piece(self.begin, end)))
            self.begin = end
        return bool(self.asked)

    async def next(self) -> bytes:
        """The piece that comes next; its slot is given back by `done`."""
        return await self.asked[0]

    def done(self) -> None:
        """The piece that came last was used."""
        self.asked.popleft()
        self.slots.release()

    async def give_up(self) -> None:
        """Ask for nothing more, and give back every slot."""
        for piece in self.asked:
            piece.cancel()
        await asyncio.gather(*self.asked, return_exceptions=True)
        while self.asked:
            self.done()

    async def _piece(self, begin: int, end: int) -> bytes:
        return await self.read(begin, end)


async def in_order(read: Read, begin: int, end: int, slots: asyncio.Semaphore) -> AsyncGenerator[bytes, None]:
    """The bytes from `begin` to `end`. Close the iterator where it is not read to its end."""
    window = _Window(read, slots, begin, end)
    try:
        while await window.fill():
            yield await window.next()
            window.done()
    finally:
        await window.give_up()
