"""A cache with one bound for all tenants: whoever uses most of it loses their own oldest entry first."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Tenant = TypeVar("Tenant", bound=Hashable)
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class FairCache(Generic[Tenant, Key, Value]):
    """Entries by tenant and key; `size_of` says what a value takes of `at_most`, in any unit."""

    def __init__(self, at_most: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:
        self._at_most, self._size_of = at_most, size_of
        self._entries: dict[Tenant, OrderedDict[Key, Value]] = {}
        self._sizes: Counter[Tenant] = Counter()
        self._total = 0

    def get(self, tenant: Tenant, key: Key) -> Value | None:
        """The entry; None when there is none."""
        entries = self._entries.get(tenant)
        return entries.get(key) if entries else None

    def put(self, tenant: Tenant, key: Key, value: Value) -> None:
        """Keep an entry as the newest of its tenant, in place of what it was before."""
        entries = self._entries.setdefault(tenant, OrderedDict())
        if key in entries:
            self._count(tenant, -self._size_of(entries.pop(key)))
        entries[key] = value
        self._count(tenant, self._size_of(value))
        while self._total > self._at_most:
            self._forget_one()

    def _forget_one(self) -> None:
        tenant = max(self._sizes, key=self._sizes.__getitem__)
        _, value = self._entries[tenant].popitem(last=False)
        self._count(tenant, -self._size_of(value))
        if not self._entries[tenant]:
            del self._entries[tenant], self._sizes[tenant]

    def _count(self, tenant: Tenant, size: int) -> None:
        self._sizes[tenant] += size
        self._total += size
