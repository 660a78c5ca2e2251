"""A new replica that was to come first and cannot: since when, and when that is long enough."""

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
_QUOTA = "exceeded quota"
"""In the API server's words (plugin/pkg/admission/resourcequota). What else it rejects, it rejects in place too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutPlace:
    """A new replica that waits for so many seconds now. `pod` is its UID; empty where a quota admits no pod."""

    seconds: float
    pod: str = ""

    @property
    def why(self) -> str:
        """What keeps it waiting."""
        what = "no node took the new replica" if self.pod else "a quota admitted no further replica"
        return f"{what} for {self.seconds:.0f} s"


def without_place(deployment: Manifest, pods: Sequence[Manifest], now: datetime) -> WithoutPlace | None:
    """The new replica that waits while one of an older template serves; None where there is none.

    Templates are told apart by the ReplicaSets that made the pods.
    """
    newest = newest_first(filter(is_living, pods))
    if since := _without_quota_since(deployment):
        return WithoutPlace(seconds=_age(since, now)) if any(map(is_ready, newest)) else None
    if not newest:
        return None
    made_by = controller_uid(newest[0])
    older = [pod for pod in newest if controller_uid(pod) != made_by]
    waiting = [(since, pod) for pod in newest if controller_uid(pod) == made_by and (since := _unplaced_since(pod))]
    if not any(map(is_ready, older)) or not waiting:
        return None
    since, pod = min(waiting, key=lambda item: item[0])
    return WithoutPlace(pod=uid_of(pod), seconds=_age(since, now))


def adds_a_node(events: Iterable[Manifest]) -> bool:
    """Whether one of a pod's Events tells that a node is being added for it."""
    return any(event.get("reason") in ADDING_A_NODE for event in events)


def _without_quota_since(deployment: Manifest) -> str:
    """Since when a quota admits no replica of the newest template while older ones are left; empty otherwise."""
    status, failure = deployment.get("status") or {}, condition(deployment, "ReplicaFailure")
    goes_on = int(status.get("updatedReplicas", 0)) < int(status.get("replicas", 0))
    refused = failure.get("status") == "True" and _QUOTA in str(failure.get("message", ""))
    return str(failure.get("lastTransitionTime") or "") if goes_on and refused else ""


def _unplaced_since(pod: Manifest) -> str:
    scheduled = condition(pod, "PodScheduled")
    if is_placed(pod) or scheduled.get("status") != "False" or scheduled.get("reason") != "Unschedulable":
        return ""
    return str(scheduled.get("lastTransitionTime") or "")


def _age(since: str, now: datetime) -> float:
    return max(0.0, (now - datetime.fromisoformat(since)).total_seconds())
