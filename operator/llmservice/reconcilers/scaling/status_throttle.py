"""When the status says something else of the autoscaler, so that decisions are told at once and trifles never."""

from dataclasses import dataclass, field, replace

from llmservice.autoscaling.memory import Memory
from llmservice.converging.checkpoints import checkpoint_text, has_moved
from llmservice.converging.scaling_report import ScalingReport

_LOOKS_UNTIL_TOLD = 2
"""A single look that finds something else is no news: one scrape may fail."""

_BURST = 4
_BURST_SECONDS = 1200.0
"""Conditions that come and go are told four times at once, and every five minutes on average."""

_SAVE_EVERY_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class StatusThrottle:
    """What stands in the status of one service: `told`, and the memory that its checkpoint holds, of `saved_at`."""

    told: ScalingReport | None
    saved: Memory
    saved_at: float
    _differs: int = 0
    _turns: tuple[float, ...] = field(default=())

    def is_news(self, report: ScalingReport, now: float) -> bool:
        """Whether to tell this report, found at `now` (seconds).

        | differs from what was told in | told                                                            |
        |-------------------------------|-----------------------------------------------------------------|
        | the number                    | at once                                                         |
        | a condition or its reason,    | by the second look in a row, four times in twenty minutes       |
        | or why replicas are unread    |                                                                 |
        | nothing but sentences         | never                                                           |
        """
        told = self.told
        if told is None or (report.replicas, report.advised) != (told.replicas, told.advised):
            return True
        self._differs = self._differs + 1 if report.says_else(told) else 0
        self._turns = tuple(at for at in self._turns if now - at < _BURST_SECONDS)
        if self._differs < _LOOKS_UNTIL_TOLD or len(self._turns) >= _BURST:
            return False
        self._turns = (*self._turns, now)
        return True

    def tell(self, report: ScalingReport, digest: str, memory: Memory, now: float) -> ScalingReport:
        """The report with a checkpoint, told from now on."""
        self._differs, self.saved, self.saved_at = 0, memory, now
        self.told = replace(report, checkpoint=checkpoint_text(digest, memory))
        return self.told

    def save(self, digest: str, memory: Memory, now: float) -> ScalingReport | None:
        """What was told with a fresh checkpoint, when ten minutes have passed and what it holds has moved."""
        if self.told is None or now - self.saved_at < _SAVE_EVERY_SECONDS or not has_moved(self.saved, memory):
            return None
        return self.tell(self.told, digest, memory, now)
