"""The progress of a rollout: counts of the Deployment and its pods, and what is still pending."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.replicas import live_replicas
from llmservice.objects.pods import condition, engine_of, is_living, is_ready, running_of
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import GROUPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Counts of replicas. `desired` is spec.replicas of the workload, `updated` counts those of the current template.

    `seen` is true when the workload's controller has observed the newest spec, `late` when the deadline has passed too.
    """

    desired: int = 0
    total: int = 0
    updated: int = 0
    ready: int = 0
    seen: bool = False
    late: bool = False


def progress_of(deployment: Manifest | None, pods: Iterable[Manifest]) -> Progress:
    """The progress of a workload. Ready replicas are counted from the pods, which are updated first."""
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


def progress_until(
    workload: Manifest | None, pods: Iterable[Manifest], deadline_seconds: float, now: datetime
) -> Progress:
    """The progress, and of groups whether it takes too long: their controller has no deadline of its own.

    Theirs goes on since its condition Progressing says so, which every group that is made anew begins again.
    """
    progress = progress_of(workload, pods)
    if workload is None or workload["kind"] != GROUPS:
        return progress
    progressing = condition(workload, "Progressing")
    since = str(progressing.get("lastTransitionTime") or "")
    if progressing.get("status") != "True" or not since:
        return progress
    late = (now - datetime.fromisoformat(since)).total_seconds() > deadline_seconds
    return replace(progress, late=progress.seen and late)


def rolled_out(progress: Progress, floor: int) -> bool:
    """Whether at least `floor` replicas of the current template are ready and none of an older one is left."""
    return (
        progress.seen and progress.updated >= floor and progress.ready >= floor and progress.updated == progress.total
    )


def waiting_for(progress: Progress, pods: Iterable[Manifest], then: str = "wait") -> tuple[Reason, str]:
    """Why a healthy workload is not ready yet; `then` says what to do while replicas start."""
    unready = [pod for pod in pods if is_living(pod) and not is_ready(pod)]
    count, the = how_many(progress), "the" if progress.ready < progress.desired else "a further"
    if others := [text for text in map(_unready_besides_engine, unready) if text]:
        return Reason.STARTING, f"{count}; {the} engine is ready but its pod is not ({others[0]}): wait"
    if any(running_of(engine_of(pod)) is not None for pod in unready):
        return Reason.LOADING, f"{count}; {the} engine is loading the model: {then}"
    if unready:
        return Reason.STARTING, f"{count}; {the} pod is starting (image, volumes): {then}"
    return Reason.PROGRESSING, f"{count}; the rollout is in progress: wait"


def how_many(progress: Progress) -> str:
    """How many replicas serve, as the beginning of a sentence about what is waited for.

    As many as are asked for may serve while a change is rolled out: those before it count, and further ones start.
    """
    if not progress.desired:
        return "no replicas yet"
    if progress.ready < progress.desired:
        return f"{progress.ready} of {progress.desired} replicas ready"
    return f"{progress.ready} replica{'s serve' if progress.ready > 1 else ' serves'} meanwhile"


def _unready_besides_engine(pod: Manifest) -> str:
    """Why a pod whose engine is ready is not: a sidecar or a readiness gate, in Kubernetes' words."""
    ready = condition(pod, "Ready")
    return str(ready.get("message") or ready.get("reason") or "") if engine_of(pod).get("ready") else ""
