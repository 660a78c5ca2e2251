"""Whose download runs, and what is remembered of each while somebody waits for it."""

from dataclasses import dataclass, field, replace

from llmservice.converging.weights import Waiting
from llmservice.converging.weights_progress import Pace, Telling
from llmservice.fairness.fair_queue import FairQueue
from llmservice.objects.references import Ref

AGAIN_SECONDS = 3.0
ABANDONED_SECONDS = 120.0
"""For who waits comes by every few seconds, and a pass that failed within a minute."""
_MOST_FAILURES = 16


@dataclass(slots=True)
class Download:
    """One Job's, for all that wait for it: what was last said of it, and its failures by the way in which it was asked.

    Times are of a monotonic clock, in seconds. `failed` is the UID of the last Job that failed.
    """

    wanted_at: float
    looked_at: float = float("-inf")
    busy: bool = False
    found: Waiting | None = None
    pace: Pace = field(default_factory=Pace)
    telling: Telling = field(default_factory=Telling)
    slow_told_at: float = float("-inf")
    failed: str = ""
    _tries: dict[str, int] = field(default_factory=dict)
    _failures: dict[str, tuple[Waiting, float]] = field(default_factory=dict)

    def is_abandoned(self, now: float) -> bool:
        """Whether nobody has wanted it for a while."""
        return not self.busy and now - self.wanted_at > ABANDONED_SECONDS

    def tried(self, asked: str) -> int:
        """How often it was tried in this way and failed, with the one that has just failed."""
        self._tries[asked] = self._tries.get(asked, 0) + 1
        while len(self._tries) > _MOST_FAILURES:
            self._tries.pop(next(iter(self._tries)))
        return self._tries[asked]

    def fail(self, asked: str, waiting: Waiting, now: float) -> Waiting:
        """Remember a failure until it is time to try again."""
        self._failures[asked] = waiting, now + waiting.again_seconds
        self.wanted_at = max(self.wanted_at, now + waiting.again_seconds)  # nobody comes by before
        while len(self._failures) > _MOST_FAILURES:
            self._failures.pop(next(iter(self._failures)))
        self.telling, self.pace = Telling(), Pace()
        return waiting

    def failure_of(self, asked: str, now: float) -> Waiting | None:
        """The failure of who asks in this way; None when it is time to try again."""
        waiting, until = self._failures.get(asked, (None, 0.0))
        return None if waiting is None or now >= until else replace(waiting, again_seconds=until - now)


@dataclass(slots=True)
class DownloadTurns:
    """The downloads that somebody waits for. At most `at_once` run that this process has begun or found.

    A Job that is there already needs no turn: after a restart more may run for a while, and no more begin.
    """

    at_once: int
    _downloads: dict[Ref, Download] = field(default_factory=dict)
    _queue: FairQueue[str, Ref] = field(default_factory=FairQueue)
    _waiting: set[Ref] = field(default_factory=set)
    _begun: set[Ref] = field(default_factory=set)

    def of(self, ref: Ref, now: float) -> Download:
        """What is remembered of a download, which somebody wants now; of one that was abandoned nothing."""
        if (before := self._downloads.get(ref)) is not None and before.is_abandoned(now):
            self.drop(ref)
        one = self._downloads.setdefault(ref, Download(wanted_at=now))
        one.wanted_at = max(one.wanted_at, now)
        return one

    def has_turn(self, ref: Ref) -> bool:
        """Whether it may begin; otherwise it waits in the line of its namespace."""
        if ref not in self._begun | self._waiting:
            self._waiting.add(ref)
            self._queue.add(ref.namespace, ref)
        while granted := self._queue.next(self.at_once - self._queue.held):
            self._waiting.discard(granted[1])
            self._begun.add(granted[1])
        return ref in self._begun

    def adopt(self, ref: Ref) -> None:
        """Count a Job that runs, whoever made it, for its namespace."""
        if ref not in self._begun:
            self._leave_line(ref)
            self._begun.add(ref)
            self._queue.hold(ref.namespace)

    def release(self, ref: Ref) -> None:
        """Give its turn back: its Job has ended, or there is none."""
        self._leave_line(ref)
        if ref in self._begun:
            self._begun.discard(ref)
            self._queue.release(ref.namespace)

    def drop(self, ref: Ref) -> None:
        """Forget a download that is complete, or that nobody wants."""
        self.release(ref)
        self._downloads.pop(ref, None)

    def is_wanted(self, ref: Ref) -> bool:
        """Whether somebody has asked for it since it was forgotten."""
        return ref in self._downloads

    def forget_abandoned(self, now: float) -> tuple[Ref, ...]:
        """Forget the downloads that nobody has wanted for a while; returns them."""
        abandoned = tuple(ref for ref, one in self._downloads.items() if one.is_abandoned(now))
        for ref in abandoned:
            self.drop(ref)
        return abandoned

    def _leave_line(self, ref: Ref) -> None:
        if ref in self._waiting:
            self._waiting.discard(ref)
            self._queue.leave(ref.namespace, ref)
