"""The beginning of a log, with the time at which each line was written.

The kubelet puts the container runtime's time before each line when it is asked to (`timestamps=true`, RFC 3339 with
nanoseconds, in UTC). It is of the same clock as the start of the container, and the same for every engine: what engines
print themselves has no year, or counts from a start of their own.
"""

from dataclasses import dataclass
from datetime import datetime

from llmservice.untrusted.patterns import Finder, Pattern

_LONGEST_TIME = 40


@dataclass(frozen=True, slots=True)
class TimedLog:
    """A log's text without the times, and the time of each line in seconds since 1970; None where it has none."""

    text: str
    times: tuple[float | None, ...]

    @property
    def began_at(self) -> float | None:
        """The time of the first line."""
        return self.times[0] if self.times else None

    def first(self, pattern: Pattern) -> float | None:
        """The time of the first line in which the pattern begins."""
        found = pattern.first(self.text)
        return self.times[found.line_number()] if found else None

    def last(self, pattern: Finder) -> float | None:
        """The time of the last line in which the pattern begins."""
        found = None
        for found in pattern.each(self.text):  # noqa: B007  (the last one)
            pass
        return self.times[found.line_number()] if found else None


def timed_log(written: str) -> TimedLog:
    """The log as the kubelet gives it; a line without a time before it stays as it is."""
    lines = [_parted(line) for line in written.split("\n")]
    return TimedLog("\n".join(text for _, text in lines), tuple(time for time, _ in lines))


def _parted(line: str) -> tuple[float | None, str]:
    head, _, rest = line[:_LONGEST_TIME].partition(" ")
    if "T" not in head:
        return None, line
    try:
        time = datetime.fromisoformat(head)
    except ValueError:
        return None, line
    if time.tzinfo is None:
        return None, line
    return time.timestamp(), rest + line[_LONGEST_TIME:]
