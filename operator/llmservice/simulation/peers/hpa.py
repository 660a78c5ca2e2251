"""The HorizontalPodAutoscaler: from a metric to a recommendation, from recommendations to replicas.

Formulas: kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale; defaults of autoscaling/v2
(pkg/apis/autoscaling/v2/defaults.go): up at once by 100 % or 4 pods in 15 s, whichever is more; down to the largest
recommendation of the last 300 s, without limit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.peers.deciding import decided
from llmservice.simulation.replaying import Decider

SYNC_SECONDS = 15.0
"""--horizontal-pod-autoscaler-sync-period."""

TOLERANCE = 0.1
"""--horizontal-pod-autoscaler-tolerance."""

_DOWN_WINDOW_SECONDS = 300.0
_UP_PERIOD_SECONDS, _UP_SHARE, _UP_PODS = 15.0, 1.0, 4
_ROUNDING = 1e-9
"""Kubernetes counts in thousandths, where 0.9 is 0.9: a ratio that floats put a hair outside the tolerance is in it."""

Timed = tuple[tuple[float, int], ...]
"""(seconds, replicas), oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HpaMemory:
    """Recommendations of the stabilization window, and scale-ups of the last period."""

    recommendations: Timed = ()
    added: Timed = ()


def by_external_metric(total: float, target: float, replicas: int) -> int:
    """Replicas for a metric of the whole service with an AverageValue target: total / target, rounded up.

    Within the tolerance of what is asked for, starting replicas included, nothing changes.
    """
    if replicas and _tolerated(total / (target * replicas)):
        return replicas
    return math.ceil(total / target)


def by_pod_metric(values: Sequence[float], missing: int, target: float, replicas: int) -> int:
    """Replicas for a metric of each pod with an AverageValue target: pods × mean / target, rounded up.

    `missing` pods report nothing, such as one that still loads its model: taken for 0 on the way up and for the target
    on the way down, and when that reverses the direction, nothing changes.
    """
    if not values:
        return replicas
    first = sum(values) / len(values) / target
    if missing:
        values = [*values, *[0.0 if first >= 1 else target] * missing]
    ratio = sum(values) / len(values) / target
    if _tolerated(ratio) or (first - 1) * (ratio - 1) < 0:
        return replicas
    wanted = math.ceil(ratio * len(values) - _ROUNDING)
    return replicas if (wanted - replicas) * (ratio - 1) < 0 else wanted


def stabilized(
    recommendation: int, replicas: int, memory: HpaMemory, now: float, policy: ScalingPolicy
) -> tuple[int, HpaMemory]:
    """Replicas to run next, and the memory with this recommendation and step."""
    known = memory.recommendations or ((now, replicas),)
    recent = (*((at, old) for at, old in known if at >= now - _DOWN_WINDOW_SECONDS), (now, recommendation))
    added = tuple((at, step) for at, step in memory.added if at > now - _UP_PERIOD_SECONDS)
    if recommendation > replicas:
        start = replicas - sum(step for _, step in added)
        most = max(start + _UP_PODS, math.ceil(start * (1 + _UP_SHARE)))
        wanted = max(replicas, min(recommendation, most))
    else:
        wanted = min(replicas, max(old for _, old in recent))
    following = policy.bounded(wanted)
    if following > replicas:
        added = (*added, (now, following - replicas))
    return following, HpaMemory(recommendations=recent, added=added)


def scaled_by(recommend: Callable[[Snapshot, float], tuple[int, str]], policy: ScalingPolicy) -> Decider:
    """An HPA around a recommendation: (replicas, the numbers behind it) for a snapshot and seconds.

    To be asked every SYNC_SECONDS.
    """
    memory = HpaMemory()

    def decide(snapshot: Snapshot, now: float) -> Decision:
        nonlocal memory
        recommendation, why = recommend(snapshot, now)
        replicas, memory = stabilized(recommendation, snapshot.replicas, memory, now, policy)
        return decided(snapshot.replicas, replicas, f"{why} wants {recommendation}")

    return decide


def _tolerated(ratio: float) -> bool:
    return abs(ratio - 1) <= TOLERANCE + _ROUNDING
