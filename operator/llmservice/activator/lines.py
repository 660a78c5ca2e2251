"""Whose turn it is: the requests of one service, first come, first served, and its replicas, the least busy first."""

from collections import Counter, OrderedDict
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from llmservice.activator.slices import Replica

Ticket = TypeVar("Ticket", bound=Hashable)


@dataclass(slots=True)
class Line(Generic[Ticket]):
    """At most `concurrency` requests are with each replica at once.

    A replica that could not be reached rests: it gets none until a moment on the caller's clock, in seconds.
    """

    concurrency: int = 1
    _replicas: tuple[Replica, ...] = ()
    _waiting: OrderedDict[Ticket, None] = field(default_factory=OrderedDict)
    _busy: Counter[Replica] = field(default_factory=Counter)
    _rests: dict[Replica, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def replicas(self) -> tuple[Replica, ...]:
        """Those that are ready."""
        return self._replicas

    @property
    def sent(self) -> int:
        """Requests that are with replicas now."""
        return self._busy.total()

    @property
    def first(self) -> Ticket | None:
        """Whose turn comes next."""
        return next(iter(self._waiting), None)

    @property
    def waiting(self) -> Collection[Ticket]:
        """All who wait, in order."""
        return self._waiting.keys()

    def use(self, replicas: Iterable[Replica]) -> None:
        """These are ready now; what is with others ends there."""
        self._replicas = tuple(replicas)
        self._rests = {each: until for each, until in self._rests.items() if each in self._replicas}

    def join(self, ticket: Ticket) -> None:
        """Wait behind all others."""
        self._waiting[ticket] = None

    def join_first(self, ticket: Ticket) -> None:
        """Wait before all others: it had its turn, and nobody took it."""
        self._waiting[ticket] = None
        self._waiting.move_to_end(ticket, last=False)

    def leave(self, ticket: Ticket) -> bool:
        """Wait no longer; false when it does not."""
        return self._waiting.pop(ticket, self) is None

    def next(self, now: float) -> tuple[Ticket, Replica] | None:
        """Who is sent where; None while nobody waits or every replica has enough."""
        free = [each for each in self._replicas if self._busy[each] < self.concurrency and self._is_up(each, now)]
        if not free or not self._waiting:
            return None
        replica = min(free, key=self._busy.__getitem__)
        ticket, _ = self._waiting.popitem(last=False)
        self._busy[replica] += 1
        return ticket, replica

    def done(self, replica: Replica) -> None:
        """A request left a replica, however it ended."""
        self._busy[replica] -= 1
        if not self._busy[replica]:
            del self._busy[replica]

    def rest(self, replica: Replica, until: float) -> None:
        """Nothing goes to a replica before that moment."""
        self._rests[replica] = until

    def _is_up(self, replica: Replica, now: float) -> bool:
        return self._rests.get(replica, now) <= now
