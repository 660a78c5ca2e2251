"""Slots that tasks of one event loop wait for, in a fair queue."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic

from llmservice.fairness.fair_queue import FairQueue, Tenant

Waiting = FairQueue[Tenant, asyncio.Future[None]]
"""Tasks that wait, each by a future that ends when a slot is its own."""


@dataclass(slots=True)
class FairSlots(Generic[Tenant]):
    """So many slots, shared among tenants."""

    slots: int
    _queue: Waiting[Tenant] = field(default_factory=FairQueue)

    @property
    def free(self) -> int:
        """Slots that nobody holds."""
        return self.slots - self._queue.held

    @asynccontextmanager
    async def slot(self, tenant: Tenant) -> AsyncIterator[None]:
        """Wait for a slot, and hold it as long as the block runs."""
        async with holding(self._queue, tenant, self._grant):
            yield

    def _grant(self) -> None:
        while grant(self._queue, self.free):
            pass


@asynccontextmanager
async def holding(queue: Waiting[Tenant], tenant: Tenant, grant_all: Callable[[], None]) -> AsyncIterator[None]:
    """Wait in a queue, and hold a slot as long as the block runs.

    `grant_all` is called when somebody waits or a slot is free: it grants what may be granted.
    """
    loop = asyncio.get_running_loop()
    turn = loop.create_future()
    queue.add(tenant, turn)
    loop.call_soon(grant_all)  # when all that ask in this round of the loop have asked
    try:
        await turn
        yield
    finally:
        if turn.done() and not turn.cancelled():
            queue.release(tenant)
            grant_all()
        else:
            queue.leave(tenant, turn)


def grant(queue: Waiting[Tenant], free: int, *, leave_room: bool = True) -> bool:
    """Give a slot to the task that is next; false when none may have one."""
    while granted := queue.next(free, leave_room=leave_room):
        tenant, turn = granted
        if not turn.cancelled():
            turn.set_result(None)
            return True
        queue.release(tenant)  # it has given up, and has not yet run to leave the queue
    return False
