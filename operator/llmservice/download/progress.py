"""How far a download is, for its metrics page and for a line in its log."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from llmservice.converging.spans import roughly
from llmservice.models.sizes import of_in_gb

_MB = 10**6
_WINDOW_SECONDS = 60.0
_MOST_SAMPLES = 64


@dataclass(slots=True)
class Progress:
    """Counts, none of which is ever lowered: a file that was wrong and comes again is expected once more.

    `done` are the bytes of the model that are on the claim, whenever they came.
    """

    clock: Callable[[], float] = time.monotonic
    done: int = 0
    expected: int = 0
    files_done: int = 0
    files_expected: int = 0
    errors: int = 0
    _samples: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_MOST_SAMPLES), init=False)

    def found(self, size: int) -> None:
        """Bytes that were there before: they say nothing about the speed."""
        self.done += size
        self._samples = deque(((at, done + size) for at, done in self._samples), maxlen=_MOST_SAMPLES)

    def line(self) -> str:
        """`61.2 of 141.1 GB (43 %), 95 MB/s, about 14 min left`; speed and time left where they are known."""
        told = of_in_gb(self.done, self.expected)
        speed = self._speed()
        if speed <= 0:
            return told
        return f"{told}, {speed / _MB:.0f} MB/s, about {roughly((self.expected - self.done) / speed)} left"

    def _speed(self) -> float:
        """Bytes in a second over the last minute; 0 at the first call."""
        now = self.clock()
        self._samples.append((now, self.done))
        while len(self._samples) > 2 and now - self._samples[0][0] > _WINDOW_SECONDS:  # noqa: PLR2004  (first and last)
            self._samples.popleft()
        at, done = self._samples[0]
        return (self.done - done) / (now - at) if now > at else 0.0
