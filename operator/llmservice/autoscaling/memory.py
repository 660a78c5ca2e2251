"""What a law remembers of one service from decision to decision; small enough for a checkpoint.

Sampled values are whole numbers (tokens/s), so that a checkpoint keeps them exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

LOADS_KEPT = 72
"""Readings of the load that are kept one by one: 12 minutes at one every 10 s."""

HALF_MINUTES_KEPT = 120
"""Means over half a minute: one hour."""

COLD_STARTS_KEPT = 8


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A load level of one replica: mean tokens/s, mean decode steps/s, and how many readings (capped) lie behind it."""

    tokens_per_second: float
    steps_per_second: float
    readings: float


@dataclass(frozen=True, slots=True)
class Violations:
    """Requests measured at one load level of a replica, and how many of them were over an objective."""

    requests: float
    over: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Fading sums over about 150 s of requests: prompt tokens and the prompts they belong to, the same of answers.

    Sums are kept rather than means of ratios, because a moment in which little finishes would distort those.
    """

    entered_tokens: float
    prompts: float
    generated_tokens: float
    answers: float
    finished_per_second: float

    @property
    def prompt(self) -> float:
        """Tokens of a mean prompt."""
        return self.entered_tokens / self.prompts

    @property
    def answer(self) -> float:
        """Tokens of a mean answer."""
        return self.generated_tokens / self.answers

    @property
    def tokens(self) -> float:
        """Tokens a mean request costs, prompt and answer."""
        return self.entered_tokens / self.prompts + self.generated_tokens / self.answers


@dataclass(frozen=True, slots=True)
class ReplicaMinute:
    """The minute of one replica that is being sampled for the violation curve.

    `quiet` readings in a row found its queue short. The rest adds up what happened since the minute began;
    `first_half_tokens` in its first half.
    """

    quiet: int = 0
    readings: int = 0
    seconds: float = 0.0
    first_half_tokens: float = 0.0
    tokens: float = 0.0
    finished: float = 0.0
    over: float = 0.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast (tokens/s) made `at` some time, beside the hour's ordinary level at that time."""

    at: float
    tokens_per_second: int
    ordinary: int


@dataclass(frozen=True, slots=True)
class Capacity:
    """What is known of one replica: points of the capacity line and the violation curve, by logarithmic load level.

    `kv_per_token` is the KV-cache share that one token per second and second of step time binds. `violation_weight` is
    the weight of a new sample: it grows, so that older ones fade without being touched.
    """

    line: Mapping[int, LinePoint] = field(default_factory=dict)
    kv_per_token: float = 0.0
    violations: Mapping[int, Violations] = field(default_factory=dict)
    violation_weight: float = 1.0
    minutes: Mapping[str, ReplicaMinute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Demand:
    """What is known of the load: request sizes, the last readings, the last hour, and how good forecasts were.

    `loads` in tokens/s, `held` in requests (running and waiting); `error` and `ordinary_error` are mean absolute errors
    of the forecast and of simply expecting the hour's ordinary level, over `judged` forecasts. `surprise` is the mean
    square of what came beyond forecasts, in the reserve's unit, over `surprise_hours`. `known_before`: the service ran
    before, but what was known of it could not be read.
    """

    sizes: Sizes | None = None
    loads: tuple[int, ...] = ()
    half_minutes: tuple[int, ...] = ()
    readings: int = 0
    held: tuple[int, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    error: float = 0.0
    ordinary_error: float = 0.0
    judged: int = 0
    cold_starts: tuple[int, ...] = ()
    surprise: float = 0.0
    surprise_hours: float = 0.0
    known_before: bool = False


@dataclass(frozen=True, slots=True)
class Stabilization:
    """What keeps decisions calm: recent targets as (at, replicas), newest last and falling; the last changes.

    `targets` are of the stabilization window; `needs` are of a longer one, without what is kept only for calm.
    `changes` are (at, difference) of what was decided within the rate limits' period.
    """

    targets: tuple[tuple[float, int], ...] = ()
    needs: tuple[tuple[float, int], ...] = ()
    changes: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything remembered of one service. `at` is the time of the last decision, None before the first.

    The first is also the first one on replicas of another kind.
    """

    at: float | None = None
    capacity: Capacity = field(default_factory=Capacity)
    demand: Demand = field(default_factory=Demand)
    stabilization: Stabilization = field(default_factory=Stabilization)

    def of_other_replicas(self) -> "Memory":
        """What still counts when the replicas become others: what is known of the traffic."""
        return Memory(demand=replace(self.demand, cold_starts=(), surprise=0.0, surprise_hours=0.0))

    def expecting(self, cold_start_seconds: float | None) -> "Memory":
        """The same, with a cold start that somebody else measured, where none was measured here."""
        if cold_start_seconds is None or self.demand.cold_starts:
            return self
        return replace(self, demand=replace(self.demand, cold_starts=(round(cold_start_seconds),)))
