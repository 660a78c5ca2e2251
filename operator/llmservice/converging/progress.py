"""How far the workload is: counts of the Deployment and its pods, and what it still waits for."""

from collections.abc import Iterable
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.replicas import live_replicas
from llmservice.objects.pods import condition, engine_of, is_living, is_ready, running_of
from llmservice.objects.references import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Counts of replicas. `desired` is what the Deployment asks for, `updated` those of the current template.

    `seen` is true when the Deployment controller has seen the newest spec; `late` when it then gave up waiting.
    """

    desired: int = 0
    total: int = 0
    updated: int = 0
    ready: int = 0
    seen: bool = False
    late: bool = False


def progress_of(deployment: Manifest | None, pods: Iterable[Manifest]) -> Progress:
    """The progress of a workload. Ready replicas are counted from the pods: they know first."""
    if deployment is None:
        return Progress()
    status = deployment.get("status") or {}
    seen = int(status.get("observedGeneration", 0)) >= int(deployment["metadata"].get("generation", 0))
    return Progress(
        desired=live_replicas(deployment),
        total=int(status.get("replicas", 0)),
        updated=int(status.get("updatedReplicas", 0)),
        ready=sum(is_ready(pod) for pod in pods),
        seen=seen,
        late=seen and condition(deployment, "Progressing").get("reason") == "ProgressDeadlineExceeded",
    )


def rolled_out(progress: Progress, floor: int) -> bool:
    """Whether the current template serves at its floor and nothing of an older one is left."""
    return (
        progress.seen and progress.updated >= floor and progress.ready >= floor and progress.updated == progress.total
    )


def waiting_for(progress: Progress, pods: Iterable[Manifest]) -> tuple[Reason, str]:
    """What a workload without diagnosis still waits for."""
    unready = [pod for pod in pods if is_living(pod) and not is_ready(pod)]
    count = f"{progress.ready} of {progress.desired} replicas ready"
    if beside := [text for text in map(_waits_for_others, unready) if text]:
        return Reason.STARTING, f"{count}; the engine is ready, its pod is not ({beside[0]}): wait"
    if any(running_of(engine_of(pod)) is not None for pod in unready):
        return Reason.LOADING, f"{count}; the engine is loading the model: wait"
    if unready:
        return Reason.STARTING, f"{count}; the pod is starting (image, volumes): wait"
    return Reason.PROGRESSING, f"{count}; the rollout goes on: wait"


def _waits_for_others(pod: Manifest) -> str:
    """What Kubernetes says of a pod whose engine is ready: a container beside it, a readiness gate."""
    ready = condition(pod, "Ready")
    return str(ready.get("message") or ready.get("reason") or "") if engine_of(pod).get("ready") else ""
