"""Who is held: places and bytes, shared among services.

One service alone may take all there are. When another asks and nothing is left, the one that has most gives up what
came to it last, as fair queues drop from the longest one (McKenney, "Stochastic Fairness Queueing", 1990). So nobody
who has less than an equal share is refused, and nothing stands empty for those who do not ask.
"""

from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Service = TypeVar("Service", bound=Hashable)
Ticket = TypeVar("Ticket", bound=Hashable)


class Full(Exception):
    """Nothing is left, and nobody who asked for more than this one gives way."""


@dataclass(slots=True)
class Places(Generic[Service, Ticket]):
    """Tickets by service, in the order they came. `most`: tickets in all. `most_bytes`: of all together."""

    most: int
    most_bytes: int
    _of: dict[Service, OrderedDict[Ticket, int]] = field(default_factory=dict)
    _bytes: Counter[Service] = field(default_factory=Counter)
    _held: int = 0
    _held_bytes: int = 0

    @property
    def held(self) -> int:
        """Tickets in all."""
        return self._held

    @property
    def held_bytes(self) -> int:
        """Bytes of them all."""
        return self._held_bytes

    def held_of(self, service: Service) -> int:
        """Tickets of one service."""
        return len(self._of.get(service, ()))

    def oldest_of(self, service: Service) -> Ticket | None:
        """The ticket of a service that came first."""
        return next(iter(self._of.get(service, ())), None)

    def take(self, service: Service, ticket: Ticket, size: int) -> tuple[Ticket, ...]:
        """Give a place to a ticket of so many bytes; returns who gave way, whose places are gone. Raises Full."""
        giving = self._giving_way(service, size)
        for owner, each in giving:
            self.leave(owner, each)
        self._of.setdefault(service, OrderedDict())[ticket] = size
        self._bytes[service] += size
        self._held += 1
        self._held_bytes += size
        return tuple(each for _, each in giving)

    def leave(self, service: Service, ticket: Ticket) -> bool:
        """Give a place up; false when the ticket has none."""
        tickets = self._of.get(service)
        if tickets is None or ticket not in tickets:
            return False
        size = tickets.pop(ticket)
        self._held -= 1
        self._held_bytes -= size
        self._bytes[service] -= size
        if not tickets:
            del self._of[service], self._bytes[service]
        return True

    def _giving_way(self, service: Service, size: int) -> list[tuple[Service, Ticket]]:
        """The newest tickets of those who have most, until there is room for one of this service."""
        places, room = self.most - self._held, self.most_bytes - self._held_bytes
        if places >= 1 and room >= size:
            return []
        counts, sizes = Counter({each: len(tickets) for each, tickets in self._of.items()}), Counter(self._bytes)
        giving: list[tuple[Service, Ticket]] = []
        while places < 1 or room < size:
            scarce, own = (counts, 2) if places < 1 else (sizes, size)
            largest = max(scarce, key=scarce.__getitem__, default=service)
            if largest == service or scarce[service] + own > scarce[largest]:
                raise Full
            ticket, freed = self._newest(largest, len(self._of[largest]) - counts[largest])
            giving.append((largest, ticket))
            counts[largest] -= 1
            sizes[largest] -= freed
            places, room = places + 1, room + freed
        return giving

    def _newest(self, service: Service, skipped: int) -> tuple[Ticket, int]:
        """The ticket that came last but so many, and its bytes."""
        backwards = reversed(self._of[service].items())
        for _ in range(skipped):
            next(backwards)
        return next(backwards)
