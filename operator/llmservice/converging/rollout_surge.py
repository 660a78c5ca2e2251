"""A new replica that was to come first and finds no place: since when, and when that is long enough."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from llmservice.objects.pods import condition, is_living, is_placed, is_ready, newest_first
from llmservice.objects.references import Manifest, controller_uid, uid_of

NO_PLACE_SECONDS = 20.0
"""The scheduler has judged the pod by then, and what was counted as free has been taken by somebody else."""
SCALE_UP_SECONDS = 600.0
"""A node that an autoscaler adds comes in less (cluster-autoscaler gives up after 15 minutes)."""
ADDING_A_NODE = frozenset({"TriggeredScaleUp", "Nominated"})
"""Event reasons by which cluster-autoscaler and Karpenter tell a pod that a node comes for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutPlace:
    """A pod of the new template that the scheduler places nowhere, for so many seconds now."""

    namespace: str
    uid: str
    seconds: float


def without_place(pods: Sequence[Manifest], now: datetime) -> WithoutPlace | None:
    """The new replica that waits for a node while one of an older template serves; None where there is none.

    Templates are told apart by the ReplicaSets that made the pods.
    """
    newest = newest_first(filter(is_living, pods))
    if not newest:
        return None
    made_by = controller_uid(newest[0])
    older = [pod for pod in newest if controller_uid(pod) != made_by]
    waiting = [(pod, since) for pod in newest if controller_uid(pod) == made_by and (since := _since(pod))]
    if not any(map(is_ready, older)) or not waiting:
        return None
    pod, since = min(waiting, key=lambda item: item[1])
    seconds = max(0.0, (now - since).total_seconds())
    return WithoutPlace(namespace=pod["metadata"]["namespace"], uid=uid_of(pod), seconds=seconds)


def adds_a_node(events: Iterable[Manifest]) -> bool:
    """Whether one of a pod's Events tells that a node is being added for it."""
    return any(event.get("reason") in ADDING_A_NODE for event in events)


def _since(pod: Manifest) -> datetime | None:
    scheduled = condition(pod, "PodScheduled")
    if is_placed(pod) or scheduled.get("status") != "False" or scheduled.get("reason") != "Unschedulable":
        return None
    since = scheduled.get("lastTransitionTime")
    return datetime.fromisoformat(since) if since else None
