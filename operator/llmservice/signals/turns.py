"""Turns among namespaces: next is who holds the fewest places, however many of its pods wait, known ones before new."""

import asyncio
import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, zip_longest

from llmservice.signals.source import Target


class FairQueue:
    """Who waits for a place and who holds one, by owner. How many places there are is for its user to say.

    Of owners that hold as many, those who are not new come first.
    """

    def __init__(self, is_new: Callable[[str], bool] = lambda _: False) -> None:
        self.total = 0
        self._is_new = is_new
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        # (places held, new, number of the entry, owner). One that an owner has outgrown is skipped when it comes up.
        self._heap: list[tuple[int, bool, int, str]] = []
        self._numbers = count()

    def ask(self, owner: str) -> asyncio.Future[None]:
        """A place is given by `grant`, which ends the future. Cancel it to leave the queue."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        self._enter(owner)
        return turn

    def places_of_next(self) -> int | None:
        """How many places the owner who is next holds; None where nobody waits."""
        while self._heap:
            held, _, _, owner = self._heap[0]
            if self._waits(owner) and held == self._held[owner]:
                return held
            heapq.heappop(self._heap)
        return None

    def grant(self) -> None:
        """Give a place to the next. Only after `places_of_next` named somebody."""
        *_, owner = heapq.heappop(self._heap)
        self._waiting[owner].popleft().set_result(None)
        self._change(owner, 1)

    def give_back(self, owner: str) -> None:
        """Take one place back."""
        self._change(owner, -1)

    def _change(self, owner: str, by: int) -> None:
        self.total += by
        self._held[owner] += by
        if self._waits(owner):
            self._enter(owner)
        elif not self._held[owner]:
            del self._held[owner]

    def _enter(self, owner: str) -> None:
        heapq.heappush(self._heap, (self._held[owner], self._is_new(owner), next(self._numbers), owner))

    def _waits(self, owner: str) -> bool:
        turns = self._waiting.get(owner)
        while turns and turns[0].done():
            turns.popleft()
        if turns is not None and not turns:
            del self._waiting[owner]
        return bool(turns)


def in_turn(targets: Iterable[Target]) -> list[Target]:
    """One pod of each namespace, then the next of each; within a namespace the services take turns the same way."""
    namespaces: dict[str, dict[str, list[Target]]] = {}
    for target in targets:
        namespaces.setdefault(target.namespace, {}).setdefault(target.service, []).append(target)
    return [*_alternating([[*_alternating([*services.values()])] for services in namespaces.values()])]


def _alternating(groups: Sequence[Sequence[Target]]) -> Iterator[Target]:
    return (target for target in chain.from_iterable(zip_longest(*groups)) if target is not None)
