"""How many replicas follow the load, and within which bounds."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.idle import Idle
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.schedules import Least, Replicas, Schedule

Requests = Annotated[int, Field(strict=True, ge=1, le=100_000)]


class Targets(ApiModel):
    """Load per replica that policy Threshold aims at. The signal that asks for most replicas wins."""

    kv_cache_percent: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    """Share of the KV cache in use, in percent."""
    queued_requests: Requests | None = None
    """Requests that wait on a replica."""
    running_requests: Requests | None = None
    """Requests a replica works on."""

    rules: ClassVar = (
        Rule(
            cel="has(self.kvCachePercent) || has(self.queuedRequests) || has(self.runningRequests)",
            holds=lambda targets: any((targets.kv_cache_percent, targets.queued_requests, targets.running_requests)),
            message="set at least one of kvCachePercent, queuedRequests and runningRequests",
        ),
    )


class Objective(ApiModel):
    """Latency that requests may have. What a replica can hold within it is learnt from the engine."""

    time_to_first_token_milliseconds: Annotated[int, Field(strict=True, ge=10, le=600_000)] = 3000
    """Milliseconds from a request to the first token of its answer."""
    time_per_output_token_milliseconds: Annotated[int, Field(strict=True, ge=1, le=60_000)] = 100
    """Milliseconds for each further token."""


class MeasuredLoad(ApiModel):
    """What one replica did at one level of load, as `llmservice bench --save` measured it."""

    tokens_per_second: Annotated[int, Field(strict=True, ge=1, le=100_000_000)]
    """Prompt and answer tokens a second."""
    time_per_output_token_microseconds: Annotated[int, Field(strict=True, ge=1, le=60_000_000)]
    """Mean microseconds between two tokens of an answer."""


MAY_SLEEP = (
    "({0}.minReplicas == 0 || (has({0}.schedules) && "
    "{0}.schedules.exists(each, has(each.minReplicas) && each.minReplicas == 0)))"
)
"""`Autoscaling.may_sleep` in CEL, of the autoscaling at a path."""

_LEAST = "(has(each.minReplicas) ? each.minReplicas : self.minReplicas)"
_MOST = "(has(each.maxReplicas) ? each.maxReplicas : self.maxReplicas)"


def _least(scaling: "Autoscaling", each: Schedule) -> int:
    return scaling.min_replicas if each.min_replicas is None else each.min_replicas


def _most(scaling: "Autoscaling", each: Schedule) -> int:
    return scaling.max_replicas if each.max_replicas is None else each.max_replicas


class Autoscaling(ApiModel):
    """Replicas between two bounds, by the engines' own figures. maxReplicas alone is enough."""

    min_replicas: Least = 1
    """Replicas that always run. 0: none while nobody asks anything; the first request is held until one is there."""
    max_replicas: Replicas
    """Replicas that may run at most: what this resource may cost."""
    mode: Literal["Active", "Advise"] = "Active"
    """Active: replicas are set. Advise: decided and explained only; whoever sets replicas goes on doing so."""
    policy: Literal["Learned", "Threshold"] = "Learned"
    """Learned: what a replica can hold within the objective is learnt from the engine. Threshold: by `targets`."""
    targets: Targets | None = None
    """For policy Threshold: load per replica to aim at."""
    objective: Objective = Objective()
    """For policy Learned: latency to keep."""
    reserve: Literal["Economy", "Balanced", "Safe"] = "Balanced"
    """For policy Learned: how much is kept ready beyond the load."""
    profile: Annotated[tuple[MeasuredLoad, ...], Field(min_length=2, max_length=32)] | None = None
    """For policy Learned: what a replica was measured to do, which counts until the engine reports its own figures."""
    source: Literal["Pods", "Prometheus"] = "Pods"
    """Pods: the engines are read directly. Prometheus: the one server that the administrator configured."""
    schedules: Annotated[tuple[Schedule, ...], Field(max_length=16), Unique(("name",))] = ()
    """Other bounds at times of the week: the first that holds counts. At all other times those above."""
    idle: Idle | None = None
    """For minReplicas 0, here or in a schedule: when the last replica goes."""

    @property
    def may_sleep(self) -> bool:
        """Whether there are times at which no replica need run."""
        return self.min_replicas == 0 or any(each.min_replicas == 0 for each in self.schedules)

    rules: ClassVar = (
        Rule(
            cel="self.minReplicas <= self.maxReplicas",
            holds=lambda scaling: scaling.min_replicas <= scaling.max_replicas,
            message="must not be less than minReplicas: raise it, or lower minReplicas",
            field_path=".maxReplicas",
        ),
        Rule(
            cel="(self.policy == 'Threshold') == has(self.targets)",
            holds=lambda scaling: (scaling.policy == "Threshold") == (scaling.targets is not None),
            message="belongs to policy Threshold: set both, or neither to let the capacity be learnt",
            field_path=".targets",
        ),
        Rule(
            cel="self.policy == 'Learned' || !has(self.profile)",
            holds=lambda scaling: scaling.policy == "Learned" or scaling.profile is None,
            message="belongs to policy Learned: remove it, or set policy Learned",
            field_path=".profile",
        ),
        Rule(
            cel=f"!has(self.schedules) || self.schedules.all(each, {_LEAST} <= {_MOST})",
            holds=lambda scaling: all(_least(scaling, each) <= _most(scaling, each) for each in scaling.schedules),
            message="has one with more minReplicas than maxReplicas: each takes what it omits from the autoscaler's",
            field_path=".schedules",
        ),
        Rule(
            cel=f"!has(self.schedules) || self.schedules.all(each, {_MOST} <= self.maxReplicas)",
            holds=lambda scaling: all(_most(scaling, each) <= scaling.max_replicas for each in scaling.schedules),
            message="has one above maxReplicas, which is the most at any time: raise maxReplicas of the autoscaler, "
            "and give the other hours a schedule with less",
            field_path=".schedules",
        ),
        Rule(
            cel=f"!has(self.idle) || {MAY_SLEEP.format('self')}",
            holds=lambda scaling: scaling.idle is None or scaling.may_sleep,
            message="belongs to minReplicas 0, here or in a schedule: set that, or remove it",
            field_path=".idle",
        ),
        Rule(
            cel=f"self.mode == 'Active' || !{MAY_SLEEP.format('self')}",
            holds=lambda scaling: scaling.mode == "Active" or not scaling.may_sleep,
            message="must not be 0 in mode Advise, here or in a schedule, because nobody would wake the service: set "
            "1 or more, or set mode to Active",
            field_path=".minReplicas",
        ),
    )
