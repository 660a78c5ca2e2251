"""What one pod reported when its metrics were read, or why it could not be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from llmservice.autoscaling.counters import Counters
from llmservice.converging.redaction import redacted

_LONGEST_MESSAGE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one pod reported. `kv_use` is 0–1; None where the engine does not report it.

    `shows_steps`: something in it moves with every step of the engine, so that one that hangs can be told.
    """

    counters: Counters
    kv_use: float | None = None
    slots: int | None = None
    shows_steps: bool = True

    @property
    def at(self) -> float:
        """When, in seconds since 1970."""
        return self.counters.at


class ReadFailureReason(StrEnum):
    """Why a pod could not be read."""

    NO_ADDRESS = "NoAddress"
    """It has no IP address yet."""
    UNREACHABLE = "Unreachable"
    """Nobody answers at its address, or the connection broke."""
    TIMED_OUT = "TimedOut"
    """It did not answer in full within the limit."""
    PASSED_OVER = "PassedOver"
    """The round ended before its turn, because others answered late."""
    TOO_LARGE = "TooLarge"
    """The answer is larger than any engine's metrics."""
    REDIRECTED = "Redirected"
    """It sent us elsewhere; redirects are not followed."""
    UNAUTHORIZED = "Unauthorized"
    """It wants a key for its metrics."""
    REFUSED = "Refused"
    """It answered with another error."""
    NOT_METRICS = "NotMetrics"
    """It answered, but not with metrics."""
    SIGNAL_MISSING = "SignalMissing"
    """A metric that the engine version exports is not there."""
    IMPLAUSIBLE = "Implausible"
    """A value no engine can mean: NaN, infinite, negative."""
    NOT_SCRAPED = "NotScraped"
    """The metrics server has no fresh sample of the pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFailure:
    """Why there is no reading. `message` ends with the remedy; what a pod or a server said in it is in bounds."""

    reason: ReadFailureReason
    message: str

    def __post_init__(self) -> None:
        """A header, a label, an error that quotes an answer: all of them end in a status."""
        object.__setattr__(self, "message", redacted(self.message, _LONGEST_MESSAGE))


PodReadings = Mapping[str, Reading | ReadFailure]
"""By name of the pod: one for each that is ready."""
