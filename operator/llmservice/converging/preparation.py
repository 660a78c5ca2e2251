"""What only the kubelet's Events tell: whether a pod's volumes are mounted and its sandbox is made.

Until then a container waits with the one word ContainerCreating, or PodInitializing. The kubelet mounts the volumes,
makes the sandbox and asks for the image, in this order (pkg/kubelet/kubelet.go, SyncPod), and says each failure in an
Event of its own reason (pkg/kubelet/events/event.go). Other warnings about a pod, such as the scheduler's, are none of
these.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.missing import find_missing
from llmservice.objects.references import Manifest

UNPREPARED = frozenset({"ContainerCreating", "PodInitializing"})
"""Why a container waits before it is made, as far as its status says."""
PREPARED = frozenset({"Pulling", "Pulled"})
"""Reasons of Events which say that volumes and sandbox are there."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How far the kubelet is: `over`, or held up by `warning`, a message of an Event with this reason.

    `since` is Kubernetes' time as text at which it was warned of first.
    """

    over: bool = False
    reason: str = ""
    warning: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class _Obstacle:
    reason: Reason
    text: str
    way_out: str
    may_pass_seconds: float


_VOLUME = _Obstacle(
    Reason.VOLUME_MOUNT_FAILED,
    "a volume cannot be mounted",
    "check spec.model.uri and spec.engineOptions.files",
    10.0,
)
_SANDBOX = _Obstacle(
    Reason.POD_SANDBOX_FAILED,
    "the node cannot make the pod's sandbox",
    "check the node's network plugin and, where one is set, the handler of spec.pod.runtimeClassName",
    20.0,  # the kubelet tries again after 10 to 15 s
)
_OBSTACLES = {
    "FailedMount": _VOLUME,
    "FailedAttachVolume": _VOLUME,
    "FailedMapVolume": _VOLUME,
    "FailedCreatePodSandBox": _SANDBOX,
    "NetworkNotReady": _SANDBOX,
}


def preparation(events: Iterable[Manifest]) -> Preparation:
    """How far a pod is, by its Events in any order; times have whole seconds, and of equal ones the good news wins."""
    told = list(events)
    prepared_at = max((_last(item) for item in told if item.get("reason") in PREPARED), default="")
    warnings = [item for item in told if item.get("reason") in _OBSTACLES and _last(item) > prepared_at]
    if not warnings:
        return Preparation(over=bool(prepared_at))
    newest = max(warnings, key=_last)
    return Preparation(
        reason=newest["reason"], warning=str(newest.get("message", "")), since=min(map(_first, warnings))
    )


def obstructed(preparation: Preparation, namespace: str) -> Diagnosis | None:
    """What a warning means to who owns the service; None while there is none."""
    obstacle = _OBSTACLES.get(preparation.reason)
    if obstacle is None:
        return None
    if missing := find_missing(preparation.warning, namespace, preparation.since):
        return missing
    return Diagnosis(
        reason=obstacle.reason,
        message=f"{obstacle.text}: {sentence(preparation.warning)}; {obstacle.way_out}",
        heals=True,
        since=preparation.since,
        may_pass_seconds=obstacle.may_pass_seconds,
    )


def _first(event: Manifest) -> str:
    return str(event.get("firstTimestamp") or _last(event))


def _last(event: Manifest) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")
