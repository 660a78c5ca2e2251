"""Which pods leave first when there are to be fewer: the idlest, by `controller.kubernetes.io/pod-deletion-cost`.

The ReplicaSet controller stops pods that are not ready before all others, then those of the lowest cost.
"""

import math
from collections.abc import Collection, Mapping

from llmservice.converging.scaled_pods import PodPhase, ScaledPod

_BELOW_ALL = -1_000_000
"""Costs of leaving pods begin here, so that they lie below any that a user may have given all pods."""


def costs_to_write(
    pods: Collection[ScaledPod], requests: Mapping[str, float], replicas: int, leaving: Collection[str] = ()
) -> Mapping[ScaledPod, int | None]:
    """The costs that must change before the number is lowered to `replicas`; None takes a cost of ours away.

    `requests` are those in flight, by name of the pod; a pod of which none are known counts as the busiest. Empty when
    the idlest leave first by the costs they have. Before the idlest go those on nodes that are `leaving`, by name.
    """
    ready = [pod for pod in pods if pod.phase is PodPhase.READY]
    fewer = min(len(ready), len(pods) - replicas - (len(pods) - len(ready)))
    if fewer <= 0 or fewer == len(ready):
        return {}
    by_idleness = sorted(
        ready,
        key=lambda pod: (pod.node not in leaving, requests.get(pod.name, math.inf), pod.deletion_cost, pod.name),
    )
    first, others = by_idleness[:fewer], by_idleness[fewer:]
    if max(pod.deletion_cost for pod in first) < min(pod.deletion_cost for pod in others):
        return {}
    wanted = {pod: _BELOW_ALL + min(round(requests.get(pod.name, 0.0)), 100_000) for pod in first}
    stale: dict[ScaledPod, int | None] = {pod: None for pod in others if pod.deletion_cost < 0}
    return stale | {pod: cost for pod, cost in wanted.items() if cost != pod.deletion_cost}
