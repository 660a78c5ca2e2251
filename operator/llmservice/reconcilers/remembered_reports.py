"""A cache of what engines said at their start, shared fairly among namespaces."""

from dataclasses import dataclass

from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import UNTIMED, StartTimes
from llmservice.fairness.fair_cache import FairCache

_MOST_REMEMBERED = 16_384
"""Of about 700 bytes each."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a log said, or None and when it is to be read.

    `pause` is how many seconds that is after an attempt; 0 before the first. `times` is what the log said of the parts
    of the start.
    """

    due: float
    report: StartReport | None
    pause: float = 0.0
    times: StartTimes = UNTIMED

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be waited for: the log was read, or could not be."""
        return self.report is not None or self.pause > 0


class RememberedReports(FairCache[str, str, Remembered]):
    """What is known of each start of an engine, by namespace."""

    def __init__(self, at_most: int = _MOST_REMEMBERED) -> None:
        super().__init__(at_most)
