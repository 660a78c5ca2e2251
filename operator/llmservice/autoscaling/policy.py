"""What the user wants from the autoscaler of one service, as values."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from llmservice.autoscaling.memory import LinePoint
from llmservice.autoscaling.schedules import Bounds
from llmservice.planning.scaling_plan import LoadTargets


class Law(StrEnum):
    """How replicas are decided."""

    LEARNED = "Learned"
    """What one replica can do is learnt from the engine."""
    THRESHOLD = "Threshold"
    """Targets per replica, set by the user."""


class Reserve(StrEnum):
    """How much is kept ready beyond the load."""

    ECONOMY = "Economy"
    BALANCED = "Balanced"
    SAFE = "Safe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Latency a request may have: seconds until the first token, seconds per further token."""

    ttft_seconds: float = 3.0
    tpot_seconds: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """What the devices of one replica can do at most, together: the weak prior of the capacity line.

    Weights are read once per decode step (`weight_bytes` / `bytes_per_second`); a token costs two operations per
    parameter.
    """

    parameters: float
    weight_bytes: float
    operations_per_second: float
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPolicy:
    """Everything about one service that a decision depends on and that does not change from tick to tick.

    `slots` are the requests one replica works on at once. `roofline` None where model or device is not known.
    `measured` is what a replica did in a bench.
    `period_seconds` is the time between two decisions. `schedule` is the name of the one that sets the bounds, if any.
    """

    minimum: int
    maximum: int
    law: Law = Law.LEARNED
    objective: Objective = Objective()
    reserve: Reserve = Reserve.BALANCED
    targets: LoadTargets = field(default_factory=LoadTargets)
    slots: int = 256
    roofline: Roofline | None = None
    measured: tuple[LinePoint, ...] = ()
    period_seconds: float = 10.0
    schedule: str = ""

    def within(self, bounds: Bounds) -> "ScalingPolicy":
        """The same policy within these bounds; a law never goes below one replica."""
        return replace(self, minimum=max(1, bounds.minimum), maximum=bounds.maximum, schedule=bounds.schedule)

    def bounded(self, replicas: int) -> int:
        """The number within the bounds."""
        return max(self.minimum, min(self.maximum, replicas))
