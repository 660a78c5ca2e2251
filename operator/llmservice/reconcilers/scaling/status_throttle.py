"""When the status says something else of the autoscaler, so that decisions show at once and trifles never."""

from dataclasses import dataclass, field, replace

from llmservice.autoscaling.memory import Memory
from llmservice.converging.checkpoints import checkpoint_text, has_moved
from llmservice.converging.scaling_report import ScalingReport

_ROUNDS_UNTIL_DUE = 2
"""A single round that finds something else is no news: one scrape may fail."""

_BURST = 4
_BURST_SECONDS = 1200.0
"""Conditions that come and go are reported four times at once, and every five minutes on average."""

_CHECKPOINT_EVERY_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class StatusThrottle:
    """What the status of one service says: `reported`, and the memory that its checkpoint holds, of `saved_at`."""

    reported: ScalingReport | None = None
    saved: Memory = field(default_factory=Memory)
    saved_at: float = 0.0
    _rounds_that_differ: int = 0
    _burst: tuple[float, ...] = ()

    def is_due(self, report: ScalingReport, now: float) -> bool:
        """Whether the status is to say this report, found at `now` (seconds).

        | differs from what was reported in | due                                                         |
        |-----------------------------------|-------------------------------------------------------------|
        | the number                        | at once                                                     |
        | a condition or its reason,        | by the second round in a row, four times in twenty minutes  |
        | or why replicas cannot be read    |                                                             |
        | nothing but messages              | never                                                       |
        """
        last = self.reported
        if last is None or (report.replicas, report.advised) != (last.replicas, last.advised):
            return True
        self._rounds_that_differ = self._rounds_that_differ + 1 if report.differs_from(last) else 0
        self._burst = tuple(at for at in self._burst if now - at < _BURST_SECONDS)
        if self._rounds_that_differ < _ROUNDS_UNTIL_DUE or len(self._burst) >= _BURST:
            return False
        self._burst = (*self._burst, now)
        return True

    def record(self, report: ScalingReport, digest: str, memory: Memory, now: float) -> None:
        """The status says this report from now on, with a checkpoint of the memory."""
        self._rounds_that_differ, self.saved, self.saved_at = 0, memory, now
        self.reported = replace(report, checkpoint=checkpoint_text(digest, memory))

    def renew_checkpoint(self, digest: str, memory: Memory, now: float) -> bool:
        """Put a fresh checkpoint into what was reported, after ten minutes and if it has moved; whether that was so."""
        due = now - self.saved_at >= _CHECKPOINT_EVERY_SECONDS and has_moved(self.saved, memory)
        if self.reported is None or not due:
            return False
        self.record(self.reported, digest, memory, now)
        return True
