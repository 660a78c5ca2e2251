"""The pods of one service as the autoscaler counts them: who takes requests, who is on the way, who finds no place."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from llmservice.converging.pods import condition, engine_of, is_living, is_ready
from llmservice.converging.references import Manifest, is_pod_of, uid_of

DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
"""Of ready pods the ReplicaSet controller stops those with the lowest number first; without it a pod has 0."""

_LONGEST_COLD_START_SECONDS = 1800.0
"""A pod that waited longer for a node says nothing of how soon the next one is ready."""


class Standing(StrEnum):
    """How far a pod is. One that is being stopped, or has ended, is none of the service's any more."""

    READY = "Ready"
    STARTING = "Starting"
    UNSCHEDULABLE = "Unschedulable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledPod:
    """One pod. `address` is its IP, `obstacle` what the scheduler says of one that finds no place.

    `created_at` and `ready_at` are Kubernetes' times as text; `restarts` counts those of the engine.
    """

    name: str
    uid: str
    standing: Standing
    address: str = ""
    created_at: str = ""
    ready_at: str = ""
    restarts: int = 0
    deletion_cost: int = 0
    obstacle: str = ""

    @property
    def cold_start_seconds(self) -> float | None:
        """Seconds from created to ready, at most half an hour; None where a crash lies in between."""
        if self.restarts or not (self.created_at and self.ready_at):
            return None
        seconds = (datetime.fromisoformat(self.ready_at) - datetime.fromisoformat(self.created_at)).total_seconds()
        return min(max(seconds, 0.0), _LONGEST_COLD_START_SECONDS)


def scaled_pods(manifests: Iterable[Manifest], deployment: str) -> tuple[ScaledPod, ...]:
    """The living pods that this Deployment made, by name.

    Others may carry the label: a copy for debugging takes requests too, but goes and comes by no decision of ours.
    """
    pods = (_pod(manifest) for manifest in manifests if is_pod_of(manifest, deployment) and is_living(manifest))
    return tuple(sorted(pods, key=lambda pod: pod.name))


def _pod(manifest: Manifest) -> ScaledPod:
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    standing, obstacle = _standing(manifest)
    return ScaledPod(
        name=metadata["name"],
        uid=uid_of(manifest),
        standing=standing,
        address=str(status.get("podIP") or ""),
        created_at=str(metadata.get("creationTimestamp") or ""),
        ready_at=str(condition(manifest, "Ready").get("lastTransitionTime") or ""),
        restarts=int(engine_of(manifest).get("restartCount", 0)),
        deletion_cost=_number((metadata.get("annotations") or {}).get(DELETION_COST_ANNOTATION, "")),
        obstacle=obstacle,
    )


def _standing(manifest: Manifest) -> tuple[Standing, str]:
    if is_ready(manifest):
        return Standing.READY, ""
    scheduled = condition(manifest, "PodScheduled")
    if (scheduled.get("status"), scheduled.get("reason")) == ("False", "Unschedulable"):
        return Standing.UNSCHEDULABLE, str(scheduled.get("message", ""))
    return Standing.STARTING, ""


def _number(text: str) -> int:
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 12 else 0  # noqa: PLR2004
