"""A fair queue: whoever holds the fewest slots is served next, however many of its items wait."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Tenant = TypeVar("Tenant", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


class FairQueue(Generic[Tenant, Item]):
    """Items that wait for a slot, by tenant, and how many slots each tenant holds.

    The tenant that holds the fewest is next. Of those that hold as many, new ones come last and the others take turns.
    Items of one tenant come in the order in which they were added; an item waits once at a time. How many slots there
    are is for the user to say.

    A tenant holds at most `times_free` times the slots that it leaves free, and may always hold one: with the default
    12 of 16 alone, 7 and 6 where two are busy. So whoever comes next finds a free slot, however long the others hold
    theirs. This is the dynamic threshold of shared buffers (Choudhury and Hahne 1998), for which nobody need know how
    many tenants there are. The last `spare` free slots are for tenants that hold none.
    """

    def __init__(
        self, *, times_free: float = 3.0, spare: int = 1, is_new: Callable[[Tenant], bool] = lambda _: False
    ) -> None:
        self._times_free, self._spare = times_free, spare
        self._is_new = is_new
        self._lines: dict[Tenant, OrderedDict[Item, None]] = {}
        self._held: Counter[Tenant] = Counter()
        # Tenants with waiting items by (slots held, is new): as many ranks as there are different numbers of slots.
        self._ranks: dict[tuple[int, bool], OrderedDict[Tenant, None]] = {}
        self._rank_of: dict[Tenant, tuple[int, bool]] = {}
        self._waiting = 0
        self._seen: set[Tenant] = set()  # two of them at most
        self.held = 0

    def add(self, tenant: Tenant, item: Item) -> None:
        """Let an item wait behind those of its tenant."""
        if not self.is_shared:
            self._seen.add(tenant)
        self._waiting += 1
        line = self._lines.setdefault(tenant, OrderedDict())
        line[item] = None
        if len(line) == 1:
            self._rank(tenant)

    def leave(self, tenant: Tenant, item: Item) -> None:
        """Let an item go away unserved, if it still waits."""
        line = self._lines.get(tenant)
        if line is not None and item in line:
            del line[item]
            self._served_or_left(tenant)

    def next(self, free: int, *, leave_room: bool = True) -> tuple[Tenant, Item] | None:
        """Whose turn it is with so many slots free, held until `release`; None when nobody waits who may have one.

        `leave_room` false: all slots may be held, by one tenant too.
        """
        rank = min(self._ranks, default=None)
        if rank is None or free <= 0 or (leave_room and not self._may(rank[0], free)):
            return None
        tenant = next(iter(self._ranks[rank]))
        item, _ = self._lines[tenant].popitem(last=False)
        self._change(tenant, 1)
        self._served_or_left(tenant)
        return tenant, item

    def hold(self, tenant: Tenant) -> None:
        """Give a tenant a slot that it has already, though it never waited here; there may be none free."""
        self._change(tenant, 1)
        if tenant in self._lines:
            self._rank(tenant)

    def release(self, tenant: Tenant) -> None:
        """Give a slot back."""
        self._change(tenant, -1)
        if tenant in self._lines:
            self._rank(tenant)

    @property
    def is_shared(self) -> bool:
        """Whether more than one tenant has ever asked."""
        return len(self._seen) > 1

    def __len__(self) -> int:
        """How many items wait."""
        return self._waiting

    def _may(self, held: int, free: int) -> bool:
        """Whether a tenant may hold one more. Nobody who holds more may, where the one who holds the fewest may not."""
        return not held or held + 1 <= self._times_free * (free - self._spare)

    def _change(self, tenant: Tenant, by: int) -> None:
        self.held += by
        self._held[tenant] += by
        if not self._held[tenant]:
            del self._held[tenant]

    def _served_or_left(self, tenant: Tenant) -> None:
        self._waiting -= 1
        if self._lines[tenant]:
            self._rank(tenant)
        else:
            del self._lines[tenant]
            self._unrank(tenant)

    def _rank(self, tenant: Tenant) -> None:
        """Put a tenant behind the others that hold as many slots."""
        self._unrank(tenant)
        rank = self._rank_of[tenant] = (self._held[tenant], self._is_new(tenant))
        self._ranks.setdefault(rank, OrderedDict())[tenant] = None

    def _unrank(self, tenant: Tenant) -> None:
        rank = self._rank_of.pop(tenant, None)
        if rank is not None:
            del self._ranks[rank][tenant]
            if not self._ranks[rank]:
                del self._ranks[rank]
