"""Fair shares among tenants: who waits takes turns, nobody holds everything, and nobody is served without a pause."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Tenant = TypeVar("Tenant", bound=Hashable)
Item = TypeVar("Item")

_TIMES_WHAT_IS_LEFT = 3
_PACED_AT_LEAST = 1024


@dataclass(slots=True)
class FairShare(Generic[Tenant, Item]):
    """Who is next for a slot: tenants take turns, each in its own order.

    A tenant holds at most three times the slots that it leaves free, and may always hold one. Alone it has 12 of
    16; two have 7 and 6; whoever comes next finds a free one, however slow the others are. (The dynamic threshold of
    shared buffers, Choudhury and Hahne 1998: nobody need know how many tenants there are.)
    """

    _lines: OrderedDict[Tenant, deque[Item]] = field(default_factory=OrderedDict)
    _held: Counter[Tenant] = field(default_factory=Counter)
    _size: int = 0

    def wait(self, tenant: Tenant, item: Item) -> None:
        """Let an item wait behind those of its tenant."""
        self._lines.setdefault(tenant, deque()).append(item)
        self._size += 1

    def leave(self, tenant: Tenant, item: Item) -> None:
        """Let an item go away unserved, if it still waits; costs the length of its tenant's line."""
        line = self._lines.get(tenant, deque())
        if item not in line:
            return
        line.remove(item)
        self._size -= 1
        if not line:
            del self._lines[tenant]

    def next(self, free: int) -> tuple[Tenant, Item] | None:
        """Whose turn it is with so many slots free, held until `release`; None when nobody waits who may have one.

        Only tenants that hold a slot are ever passed over, so this looks at no more of them than there are slots.
        """
        tenant = next((tenant for tenant in self._lines if self._may(tenant, free)), None) if free > 0 else None
        if tenant is None:
            return None
        line = self._lines[tenant]
        item = line.popleft()
        self._size -= 1
        if line:
            self._lines.move_to_end(tenant)
        else:
            del self._lines[tenant]
        self._held[tenant] += 1
        return tenant, item

    def release(self, tenant: Tenant) -> None:
        """Give a slot back."""
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]

    def __len__(self) -> int:
        return self._size

    def _may(self, tenant: Tenant, free: int) -> bool:
        held = self._held[tenant]
        return not held or held + 1 <= _TIMES_WHAT_IS_LEFT * (free - 1)


@dataclass(slots=True)
class FairSlots(Generic[Tenant]):
    """So many at once, shared among tenants. Belongs to one event loop."""

    free: int
    _share: FairShare[Tenant, asyncio.Future[None]] = field(default_factory=FairShare)

    @asynccontextmanager
    async def turn(self, tenant: Tenant) -> AsyncIterator[None]:
        """Wait for this tenant's turn, and hold a slot as long as the block runs."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._share.wait(tenant, turn)
        self._call()
        try:
            await turn
            yield
        finally:
            self._end(tenant, turn)

    def _end(self, tenant: Tenant, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self.free += 1
            self._share.release(tenant)
            self._call()
        else:
            self._share.leave(tenant, turn)

    def _call(self) -> None:
        while called := self._share.next(self.free):
            tenant, turn = called
            if turn.cancelled():  # it has given up, and will say so
                self._share.release(tenant)
                continue
            self.free -= 1
            turn.set_result(None)


@dataclass(slots=True)
class Pace(Generic[Tenant]):
    """A burst at once, then one each so many seconds, for each key: a token bucket, as one number for each.

    `now` is any clock in seconds that never goes back. What has rested until its bucket is full is not remembered.
    """

    burst: int
    seconds: float
    _full_at: dict[Tenant, float] = field(default_factory=dict)
    _forget_at: int = _PACED_AT_LEAST

    def pause(self, key: Tenant, now: float) -> float:
        """Seconds until this key may go on; 0 when it may now."""
        return max(0.0, self._full_at.get(key, now) - now - (self.burst - 1) * self.seconds)

    def count(self, key: Tenant, now: float) -> None:
        """This key goes on now."""
        self._full_at[key] = max(now, self._full_at.get(key, now)) + self.seconds
        if len(self._full_at) >= self._forget_at:
            self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
            self._forget_at = max(_PACED_AT_LEAST, 2 * len(self._full_at))
