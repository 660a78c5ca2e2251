"""How far a download is, how fast, and when the status says so: rarely, because every change is a write."""

from collections import deque
from dataclasses import dataclass, field

from llmservice.converging.spans import roughly
from llmservice.models.sizes import in_gb, of_in_gb

MOST_CHANGES = 17
"""Of the message, while a model is downloaded: with what is said before and after, 20 writes of the status at most."""
IDLE_SECONDS = 60.0
LONG_SECONDS = 6 * 3600.0
_WINDOW_SECONDS = 120.0
_SHORTEST_SECONDS = 10.0
_MOST_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class Received:
    """Bytes of the model that are on the claim, and how many there will be (0: not known)."""

    done: int
    expected: int

    @property
    def fraction(self) -> float:
        """How much is there, 0 to 1; 0 where it is not known."""
        return min(1.0, self.done / self.expected) if self.expected > 0 else 0.0


@dataclass(slots=True)
class Pace:
    """How fast a download is, from what was read of it; times in seconds of a monotonic clock."""

    _samples: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_MOST_SAMPLES))
    _grew_at: float = 0.0

    def add(self, at: float, done: int) -> None:
        """What was there at this moment. A pod that took another's place may begin with less."""
        if self._samples and done < self._samples[-1][1]:
            self._samples.clear()
        if not self._samples or done > self._samples[-1][1]:
            self._grew_at = at
        self._samples.append((at, done))
        while len(self._samples) > 2 and at - self._samples[0][0] > _WINDOW_SECONDS:  # noqa: PLR2004  (first and last)
            self._samples.popleft()

    def seconds_left(self, received: Received) -> float | None:
        """Seconds until all is there, at the pace of the last two minutes; None where it is not known."""
        if len(self._samples) < 2 or not received.expected:  # noqa: PLR2004  (first and last)
            return None
        (first, before), (last, after) = self._samples[0], self._samples[-1]
        if last - first < _SHORTEST_SECONDS or after <= before:
            return None
        return max(0.0, (received.expected - received.done) * (last - first) / (after - before))

    def idle_seconds(self, at: float) -> float:
        """For how long nothing came."""
        return at - self._grew_at if self._samples else 0.0


@dataclass(slots=True)
class Telling:
    """What the status says of a download: it changes by the stage, and by a twentieth of the model.

    With few changes left the steps grow, so that `MOST_CHANGES` are enough to the end, whatever happens.
    """

    message: str = ""
    _stage: str = ""
    _fraction: float = 0.0
    _changes: int = 0

    def tell(self, stage: str, fraction: float, message: str) -> str:
        """The message of now, or the one before while little has changed."""
        left = MOST_CHANGES - self._changes
        if not self.message:
            self._say(stage, fraction, message)
        elif left > 0 and (stage != self._stage or fraction >= self._fraction + (1 - self._fraction) / (left + 1)):
            self._changes += 1
            self._say(stage, fraction, message)
        return self.message

    def _say(self, stage: str, fraction: float, message: str) -> None:
        self.message, self._stage = message, stage
        self._fraction = max(self._fraction, fraction)


def how_far(received: Received, seconds_left: float | None) -> str:
    """`61.2 of 141.1 GB (43 %), about 14 min left`."""
    if not received.expected:
        return f"{in_gb(received.done)} so far"
    told = of_in_gb(received.done, received.expected)
    return told if seconds_left is None else f"{told}, about {roughly(seconds_left)} left"


def why_slow(received: Received, idle_seconds: float, seconds_left: float | None) -> str:
    """Why somebody should look at the network; empty while the download goes on as it should."""
    if idle_seconds >= IDLE_SECONDS:
        return f"nothing was received for {roughly(idle_seconds)}, {how_far(received, None)} are there"
    if seconds_left is not None and seconds_left >= LONG_SECONDS:
        return how_far(received, seconds_left)
    return ""
