"""A cache of what engines said at their start, with a bound on all of them together."""

from collections import OrderedDict
from dataclasses import dataclass, field

from llmservice.engines.start_report import StartReport

_MOST_REMEMBERED = 16_384
"""Of about 600 bytes each."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a log said, or None and when it is to be read.

    `pause` is how many seconds that is after an attempt; 0 before the first.
    """

    due: float
    report: StartReport | None
    pause: float = 0.0


@dataclass(slots=True)
class RememberedReports:
    """A cache of reports: beyond `at_most` it evicts the oldest of the namespace that has most."""

    at_most: int = _MOST_REMEMBERED
    _reports: dict[str, OrderedDict[str, Remembered]] = field(default_factory=dict)
    _count: int = 0

    def get(self, namespace: str, start: str) -> Remembered | None:
        """What is known of a start of an engine; None when nothing is."""
        reports = self._reports.get(namespace)
        return reports.get(start) if reports else None

    def put(self, namespace: str, start: str, remembered: Remembered) -> None:
        """Remember a report; replaces what was known of this start."""
        reports = self._reports.setdefault(namespace, OrderedDict())
        self._count += start not in reports
        reports[start] = remembered
        while self._count > self.at_most:
            self._forget_one()

    def _forget_one(self) -> None:
        namespace = max(self._reports, key=lambda name: len(self._reports[name]))
        self._reports[namespace].popitem(last=False)
        self._count -= 1
        if not self._reports[namespace]:
            del self._reports[namespace]
