"""Where requests wait: the desks of all services, and the places that they share."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NoReturn

from llmservice.activator.board import Board
from llmservice.activator.bounds import Bounds
from llmservice.activator.desk import Desk, Holding, Stay
from llmservice.activator.places import Full, Places
from llmservice.activator.refusals import Code, Refusal
from llmservice.activator.slices import Served

log = logging.getLogger(__name__)

_LOOKS_SECONDS = 0.25
"""Between two looks for who has waited too long."""


@dataclass(slots=True, repr=False)
class Hall:
    """The desks by port. `closing` is set while the process ends: who waits goes on waiting, until `send_away`."""

    bounds: Bounds
    desks: dict[int, Desk] = field(default_factory=dict)
    closing: bool = False
    board: Board = field(init=False)
    _places: Places[int, Stay] = field(init=False)
    _staying: int = 0
    _left: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._places = Places(self.bounds.held, self.bounds.held_bytes)
        self.board = Board(self.figures)

    @property
    def held(self) -> int:
        """Requests that no replica has taken yet."""
        return self._places.held

    @property
    def sent(self) -> int:
        """Requests that replicas have taken, until their answers end."""
        return self._staying - self._places.held

    def figures(self) -> Iterator[tuple[int, Mapping[str, float]]]:
        """By port, of services for which anything came, what the operator reads."""
        now = asyncio.get_running_loop().time()
        for port, desk in self.desks.items():
            held = self._places.held_of(port)
            if held or desk.answered or desk.refused:
                oldest = self._places.oldest_of(port)
                waited = now - oldest.since if oldest else 0.0
                figures = {"held": held, "oldestSeconds": round(waited, 1)}
                yield port, figures | {"answered": desk.answered, "refused": desk.refused}

    def use(self, served: Mapping[int, Served]) -> list[int]:
        """What the slices say now: who has which port, and which replicas are ready.

        Returns the ports that their services have no longer.
        """
        lost = [port for port, desk in self.desks.items() if not _is_of(desk, served.get(port))]
        for port in lost:
            self._close(self.desks.pop(port))
        for port, each in served.items():
            desk = self.desks.setdefault(port, Desk(each))
            refused = desk.refused
            desk.use(each)
            if desk.refused != refused:
                self.board.change()
        return lost

    @contextmanager
    def staying(self, desk: Desk, size: int) -> Iterator[Stay]:
        """A place as long as the block runs, or until `taken`; `size` is what the request costs in bytes.

        Raises Refusal when there is none.
        """
        stay = self._enter(desk, size)
        self._staying += 1
        try:
            yield stay
        finally:
            self._staying -= 1
            self._leave(stay)

    def turned_away(self, desk: Desk) -> Refusal | None:
        """The refusal of whoever comes now, counted; None while one may start and fewer wait for it than may.

        Those who are about to join the line count, so that of thousands at once no more are read than may wait.
        """
        refusal = desk.failed or self._full(desk)
        if refusal is not None:
            desk.refused += 1
            self.board.change()
        return refusal

    def taken(self, stay: Stay) -> None:
        """A replica has the request: its place is free."""
        if not stay.is_taken:
            stay.is_taken = True
            stay.desk.taken += 1
            self._free(stay)

    def send_away(self) -> None:
        """Whoever waits, and whoever would, is told that the process ends."""
        for desk in self.desks.values():
            desk.close(Code.SHUTTING_DOWN, "this activator shuts down, and another one takes its place: try again")
        self.board.change()

    async def emptied(self, seconds: float) -> None:
        """Return when nobody waits and nothing is with replicas, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._staying:
                    self._left.clear()
                    await self._left.wait()

    async def run(self) -> NoReturn:
        """Send those away who have waited too long; never returns."""
        while True:
            await asyncio.sleep(_LOOKS_SECONDS)
            late = [desk.refuse_late(self._longest(desk)) for desk in self.desks.values()]
            if any(late):
                self.board.change()

    def _full(self, desk: Desk) -> Refusal | None:
        most = desk.served.activation.max_held or self.bounds.held_each
        if self._places.held_of(desk.served.port) + desk.coming < most:
            return None
        return Refusal(Code.HELD_TOO_MANY, f"{most} requests wait for {desk.served.name} already; try again later")

    def _longest(self, desk: Desk) -> float:
        return desk.served.activation.max_wait_seconds or self.bounds.wait_seconds

    def _enter(self, desk: Desk, size: int) -> Stay:
        port, loop = desk.served.port, asyncio.get_running_loop()
        if refusal := desk.closed or self.turned_away(desk):
            raise Refusal(refusal.code, refusal.message)
        before = self._places.held_of(port)
        stay = Stay(desk, loop.time(), loop.create_future())
        try:
            giving_way = self._places.take(port, stay, size)
        except Full as error:
            desk.refused += 1
            self.board.change()
            raise Refusal(
                Code.ACTIVATOR_FULL, "too many requests wait here, for all services; try again later"
            ) from error
        said = "too many requests wait here, and others came with fewer; try again later"
        for each in giving_way:
            each.desk.refuse((each,), Refusal(Code.ACTIVATOR_FULL, said))
        desk.join(stay)
        if desk.is_asleep and desk.holding is None:
            desk.holding = Holding(loop.time(), desk.taken, desk.refused)
            log.info("%s sleeps, and a request came: held", desk.served)
        self.board.change(hurry=not before and desk.is_asleep)
        return stay

    def _leave(self, stay: Stay) -> None:
        stay.desk.leave(stay)
        self._free(stay)
        self._left.set()

    def _free(self, stay: Stay) -> None:
        desk = stay.desk
        if self._places.leave(desk.served.port, stay):
            self.board.change()
            if desk.holding is not None and not self._places.held_of(desk.served.port):
                self._settle(desk, desk.holding)

    def _settle(self, desk: Desk, holding: Holding) -> None:
        """Nobody waits: tell how it was."""
        desk.holding = None
        seconds = asyncio.get_running_loop().time() - holding.since
        taken, refused = desk.taken - holding.taken, desk.refused - holding.refused
        told = "%s: nobody waits any more, after %.1f s; taken by replicas: %d, refused: %d"
        log.info(told, desk.served, seconds, taken, refused)

    def _close(self, desk: Desk) -> None:
        desk.gone = True
        desk.close(Code.ASLEEP, f"{desk.served.name} is served here no longer; try again")
        self.board.change()


def _is_of(desk: Desk, served: Served | None) -> bool:
    """Whether the port still belongs to this service."""
    return served is not None and (desk.served.namespace, desk.served.name) == (served.namespace, served.name)
