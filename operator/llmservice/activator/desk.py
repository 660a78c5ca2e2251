"""One service here: its line, its counts, whose turn it is; and what is known of each request that stays."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from llmservice.activator.lines import Line
from llmservice.activator.refusals import Code, Refusal
from llmservice.activator.slices import Replica, Served

_REST_SECONDS = 0.5
"""Of a replica that could not be reached: its endpoint may be ahead of its socket, or behind its end."""


@dataclass(slots=True, eq=False, repr=False)
class Stay:
    """One request's stay. `since`: the loop's time when it came. `turn` ends with its replica, or a Refusal."""

    desk: "Desk"
    since: float
    turn: asyncio.Future[Replica]
    replica: Replica | None = None
    is_taken: bool = False


@dataclass(frozen=True, slots=True)
class Holding:
    """A time in which requests waited for a replica, from its first one on; and the counts at that moment."""

    since: float
    taken: int
    refused: int


@dataclass(slots=True, eq=False, repr=False)
class Desk:
    """All that is known of one service here. It outlives changes of its slices, not the loss of its port.

    `coming`: requests whose head is here, and that join the line in a moment. `closed`: the refusal of whoever would
    wait, once nobody may.
    """

    served: Served
    line: Line[Stay] = field(default_factory=Line)
    coming: int = 0
    taken: int = 0
    answered: int = 0
    refused: int = 0
    gone: bool = False
    closed: Refusal | None = None
    holding: Holding | None = None

    @property
    def is_asleep(self) -> bool:
        """No replica is ready."""
        return not self.line.replicas

    @property
    def is_passed_by(self) -> bool:
        """Its Service leads to replicas alone, or to nobody: connections here should end."""
        return self.gone or not (self.served.in_path or self.is_asleep)

    @property
    def failed(self) -> Refusal | None:
        """The refusal of whoever waits for a replica that will not start; None while one is ready, or may become so."""
        if not (self.is_asleep and self.served.activation.hopeless):
            return None
        said = f"{self.served.name} does not start: {self._why}"
        return Refusal(Code.START_FAILED, said)

    def use(self, served: Served) -> None:
        """What the slices say now."""
        self.served = served
        self.line.concurrency = served.activation.concurrency
        self.line.use(served.replicas)
        self.call()
        if (failed := self.failed) is not None:
            self.refuse(tuple(self.line.waiting), failed)

    def join(self, stay: Stay) -> None:
        """Wait behind all others."""
        self.line.join(stay)
        self.call()

    def leave(self, stay: Stay) -> None:
        """However it ended; a turn that was given may not have been noticed."""
        self.line.leave(stay)
        if stay.replica is not None:
            self.line.done(stay.replica)
            stay.replica = None
            self.call()

    def again(self, stay: Stay) -> None:
        """Its replica could not be reached: it waits again, before all others, and the replica rests.

        Where nobody may wait any more it is refused at its turn.
        """
        loop, replica = asyncio.get_running_loop(), stay.replica
        if replica is None:
            return
        stay.turn, stay.replica = loop.create_future(), None
        self.line.join_first(stay)
        self.line.rest(replica, loop.time() + _REST_SECONDS)
        self.line.done(replica)
        if self.closed is not None:
            self.refuse((stay,), self.closed)
        loop.call_later(_REST_SECONDS, self.call)
        self.call()

    def call(self) -> None:
        """Give turns, as long as there are some."""
        now = asyncio.get_running_loop().time()
        while turn := self.line.next(now):
            stay, replica = turn
            if stay.turn.done():  # its client is gone, and it has not left yet
                self.line.done(replica)
            else:
                stay.replica = replica
                stay.turn.set_result(replica)

    def close(self, code: Code, said: str) -> None:
        """Nobody waits here any more, now and later."""
        self.closed = Refusal(code, said)
        self.refuse(tuple(self.line.waiting), self.closed)

    def refuse_late(self, longest: float) -> bool:
        """Those who have waited so many seconds wait no longer; true when there are some."""
        now, refused = asyncio.get_running_loop().time(), self.refused
        while (first := self.line.first) and now - first.since >= longest:
            why = f": {self._why}" if self.served.activation.trouble else "; try again later"
            said = f"{self.served.name} had no replica that was ready within {longest:g} s{why}"
            self.refuse((first,), Refusal(Code.HELD_TOO_LONG, said))
        return self.refused > refused

    @property
    def _why(self) -> str:
        """Only the reason's name: the message may quote what is not for every client."""
        return f"{self.served.activation.trouble}; its owner sees more by: llmservice status {self.served.name}"

    def refuse(self, stays: Iterable[Stay], refusal: Refusal) -> None:
        """These wait no longer. One that has its turn already keeps it."""
        for stay in stays:
            if self.line.leave(stay) and not stay.turn.done():
                self.refused += 1
                stay.turn.set_exception(Refusal(refusal.code, refusal.message))
