"""The pods of one service as the autoscaler counts them: which take requests, which start, which find no node."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from llmservice.objects.pods import (
    condition,
    engine_of,
    has_ended,
    has_served,
    is_living,
    is_ready,
    replicas_among,
    running_of,
)
from llmservice.objects.references import Manifest, is_being_deleted, uid_of

DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
"""Of ready pods the ReplicaSet controller stops those with the lowest number first; without it a pod has 0."""

LONGEST_COLD_START_SECONDS = 1800.0
"""A pod that waited longer for a node says nothing of how soon the next one is ready."""


class PodPhase(StrEnum):
    """How far a pod is, not Kubernetes' phase. One that is being stopped, or has ended, is not counted any more."""

    READY = "Ready"
    STARTING = "Starting"
    UNSCHEDULABLE = "Unschedulable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledPod:
    """One pod. `address` is its IP, `scheduler_message` what the scheduler says of one that is unschedulable.

    `created_at`, `ready_at` and `room_freed_by` are Kubernetes' times as text; `restarts` counts those of the engine.
    `has_served` of one that is not ready: it may have been since its engine was started last. `room_freed_by` of an
    unschedulable one: when another pod, which is being stopped, has made room for it at the latest.
    """

    name: str
    uid: str
    phase: PodPhase
    address: str = ""
    created_at: str = ""
    ready_at: str = ""
    restarts: int = 0
    deletion_cost: int = 0
    scheduler_message: str = ""
    has_served: bool = False
    room_freed_by: str = ""
    node: str = ""

    @property
    def cold_start_seconds(self) -> float | None:
        """Seconds from created to ready, at most half an hour; None where a crash lies in between."""
        if self.restarts or not (self.created_at and self.ready_at):
            return None
        seconds = (datetime.fromisoformat(self.ready_at) - datetime.fromisoformat(self.created_at)).total_seconds()
        return min(max(seconds, 0.0), LONGEST_COLD_START_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingPod:
    """One that is being stopped while its engine runs: it takes no new requests and finishes those it has."""

    name: str
    uid: str
    address: str


def leaving_pods(ours: Iterable[Manifest]) -> tuple[LeavingPod, ...]:
    """Those of the pods that a Deployment made that are on their way out."""
    leaving = (pod for pod in replicas_among(ours) if is_being_deleted(pod) and running_of(engine_of(pod)) is not None)
    return tuple(
        LeavingPod(name=pod["metadata"]["name"], uid=uid_of(pod), address=str(pod["status"].get("podIP") or ""))
        for pod in leaving
    )


def scaled_pods(ours: Sequence[Manifest]) -> tuple[ScaledPod, ...]:
    """The living ones of the pods that a workload made, by name; of a group the one that answers.

    Others may carry the label: a copy for debugging takes requests too, but goes and comes by no decision of ours.
    """
    ours = replicas_among(ours)
    pods = sorted((_pod(manifest) for manifest in ours if is_living(manifest)), key=lambda pod: pod.name)
    return _with_freed_room(pods, sorted(_gone_by(manifest) for manifest in ours if _is_leaving(manifest)))


def _pod(manifest: Manifest) -> ScaledPod:
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    phase, scheduler_message = _phase(manifest)
    return ScaledPod(
        name=metadata["name"],
        uid=uid_of(manifest),
        phase=phase,
        address=str(status.get("podIP") or ""),
        created_at=str(metadata.get("creationTimestamp") or ""),
        ready_at=str(condition(manifest, "Ready").get("lastTransitionTime") or ""),
        restarts=int(engine_of(manifest).get("restartCount", 0)),
        deletion_cost=_number((metadata.get("annotations") or {}).get(DELETION_COST_ANNOTATION, "")),
        scheduler_message=scheduler_message,
        has_served=phase is PodPhase.STARTING and _may_have_served(manifest),
        node=str((manifest.get("spec") or {}).get("nodeName") or ""),
    )


def _may_have_served(manifest: Manifest) -> bool:
    """Whether a pod that is not ready has served, or may have: Kubernetes does not say since when it is not ready."""
    untold = not condition(manifest, "Ready").get("lastTransitionTime")
    return has_served(manifest) or (untold and running_of(engine_of(manifest)) is not None)


def _with_freed_room(pods: Iterable[ScaledPod], free_by: Iterable[str]) -> tuple[ScaledPod, ...]:
    """Each unschedulable pod may take the room of one that is being stopped, as long as there are such."""
    times = iter(free_by)
    return tuple(
        replace(pod, room_freed_by=next(times, "")) if pod.phase is PodPhase.UNSCHEDULABLE else pod for pod in pods
    )


def _is_leaving(manifest: Manifest) -> bool:
    """Whether it is being stopped and still takes room on its node."""
    return bool(_gone_by(manifest)) and not has_ended(manifest)


def _gone_by(manifest: Manifest) -> str:
    """Kubernetes' time for the end of the grace period; empty unless the pod is being stopped."""
    return str(manifest["metadata"].get("deletionTimestamp") or "")


def _phase(manifest: Manifest) -> tuple[PodPhase, str]:
    if is_ready(manifest):
        return PodPhase.READY, ""
    scheduled = condition(manifest, "PodScheduled")
    if (scheduled.get("status"), scheduled.get("reason")) == ("False", "Unschedulable"):
        return PodPhase.UNSCHEDULABLE, str(scheduled.get("message", ""))
    return PodPhase.STARTING, ""


def _number(text: str) -> int:
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 12 else 0  # noqa: PLR2004
