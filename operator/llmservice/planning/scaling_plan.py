"""What is decided about the autoscaler of a service: bounds, schedules, law and signals."""

from dataclasses import dataclass

from llmservice.engines.metric_names import MetricNames


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTargets:
    """Target load per replica; None ignores a signal. `kv_use` is a ratio 0–1, the others are requests."""

    kv_use: float | None = None
    waiting: float | None = None
    running: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Other bounds of the autoscaler at times of the week; None keeps its own.

    `days` are those on which it begins, 0 is Monday. `start` and `end` are minutes since midnight by the clock of
    `time_zone`; an `end` that is not later than `start` is one of the next day.
    """

    name: str
    days: frozenset[int]
    start: int
    end: int
    time_zone: str
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingPlan:
    """How replicas are decided: bounds, policy and signals.

    `advise`: decided and explained, never applied. `policy`, `reserve` and `source` are the values of the spec.
    `metric_names` are the names of the metrics in this version of the engine. `measured` are (tokens, decode steps) a
    second of one replica at levels of load that somebody measured. `minimum` and `maximum` hold while none of the
    `schedules` does. A service that `may_sleep` runs no replica after `idle_after_seconds` without a request; None: by
    what its start takes.
    """

    minimum: int
    maximum: int
    advise: bool
    policy: str
    targets: LoadTargets
    ttft_seconds: float
    tpot_seconds: float
    reserve: str
    source: str
    metric_names: MetricNames
    measured: tuple[tuple[float, float], ...] = ()
    schedules: tuple[Schedule, ...] = ()
    idle_after_seconds: int | None = None

    @property
    def may_sleep(self) -> bool:
        """Whether there are times at which no replica need run."""
        return self.minimum == 0 or any(each.minimum == 0 for each in self.schedules)
