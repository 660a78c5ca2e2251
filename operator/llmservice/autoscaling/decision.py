"""What a decision is: a number, a reason from a closed list, a sentence with the numbers, and each step's vote."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why the number is what it is: condition reason and event reason."""

    LOAD_ROSE = "LoadRose"
    LOAD_FELL = "LoadFell"
    STEADY = "Steady"
    STABILIZING = "Stabilizing"
    """Fewer would do now; the stabilization window or the rate limit holds them."""
    AT_MINIMUM = "AtMinimum"
    AT_MAXIMUM = "AtMaximum"
    OUT_OF_BOUNDS = "OutOfBounds"
    """The running number lay outside the bounds of the spec."""
    PODS_PENDING = "PodsPending"
    """More are needed, but replicas already asked for find no place."""
    NO_FRESH_READINGS = "NoFreshReadings"
    """No replica was read: nothing changes."""
    PARTIAL_READINGS = "PartialReadings"
    """Fewer would do by what was read, but not every replica was read."""
    SIGNAL_MISSING = "SignalMissing"
    """The engine reports none of the signals that targets are set for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One step's say: its name, the replicas it asks for (a fraction before rounding) and the numbers behind it."""

    step: str
    replicas: float
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Replicas to run next, and why. `trace` lists the votes in the order in which they were cast."""

    replicas: int
    reason: Reason
    message: str
    trace: tuple[Vote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a law asks for before bounds, missing data and pending replicas are considered.

    `target` is what the load of this moment wants, whatever the bounds; `replicas` is what the law would run next: what
    it is more than the bounded target, stabilization holds. `message` gives the numbers.
    """

    target: int
    replicas: int
    message: str
    trace: tuple[Vote, ...] = ()
    missing_signal: str = ""
