"""What keeps a workload from serving: each pod's state as a diagnosis: one reason and one sentence with the way out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.crashes import cannot_be_made, crash
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.missing import find_missing
from llmservice.converging.observed import Observed
from llmservice.converging.pod_context import PodContext
from llmservice.converging.preparation import Preparation, obstructed
from llmservice.engines.engine import LogPattern
from llmservice.objects.pods import (
    condition,
    created_at,
    engine_of,
    has_ended,
    has_served,
    has_started,
    is_living,
    is_placed,
    is_ready,
    last_end_of,
    newest_first,
    running_of,
    sidecars_of,
    waiting_of,
)
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan

_IMAGE_TROUBLE = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable"})
_REFUSALS = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
_SOON_SECONDS = 120.0


def diagnose(
    plan: ServicePlan, observed: Observed, deployment: Manifest | None, log_patterns: Sequence[LogPattern]
) -> Diagnosis | None:
    """The most telling diagnosis of the newest pod that is not ready; None while nothing is wrong.

    A Deployment that may not create pods at all comes first: then there is no pod to ask. What became of pods that
    ended comes last: others were made in their place.
    """
    if deployment is not None and (refused := _refused_pods(deployment)):
        return refused
    living = newest_first(filter(is_living, observed.pods))
    for pod in living:
        if is_ready(pod):
            continue
        name = pod["metadata"]["name"]
        context = PodContext(
            pod=pod,
            plan=plan,
            log_patterns=log_patterns,
            log_tail=observed.log_tails.get(name, ""),
            preparation=observed.preparations.get(name, Preparation()),
        )
        for check in _CHECKS:
            if diagnosis := check(context):
                return diagnosis
    return _ended_by_node(living, observed.pods)


def _refused_pods(deployment: Manifest) -> Diagnosis | None:
    failure = condition(deployment, "ReplicaFailure")
    if failure.get("status") != "True":
        return None
    return Diagnosis(
        reason=Reason.PODS_REFUSED,
        message=f"the cluster refuses the pods: {sentence(failure.get('message', ''))}; "
        "ask who runs the namespace to allow them (quota, Pod Security, admission policy)",
    )


def _unclaimed(context: PodContext) -> Diagnosis | None:
    """A scheduler says within moments that it has looked; one that does not exist says nothing, for ever."""
    name = context.plan.pod.passthrough.get("schedulerName")
    if not name or is_placed(context.pod) or condition(context.pod, "PodScheduled"):
        return None
    message = f"scheduler {name} has not looked at the pod: check that it runs, or correct spec.pod.schedulerName"
    return Diagnosis(reason=Reason.UNSCHEDULABLE, message=message, heals=True)


def _unscheduled(context: PodContext) -> Diagnosis | None:
    scheduled = condition(context.pod, "PodScheduled")
    if scheduled.get("status") != "False":
        return None
    text = str(scheduled.get("message", ""))
    if scheduled.get("reason") == "SchedulingGated":
        message = f"no node is looked for yet: {sentence(text)}; wait for who set the gate (a queue such as Kueue)"
        return Diagnosis(reason=Reason.UNSCHEDULABLE, message=message, heals=True)
    since = str(scheduled.get("lastTransitionTime") or "")
    if missing := find_missing(text, context.plan.owner.namespace, since):
        return missing
    if context.plan.resource_name and f"Insufficient {context.plan.resource_name}" in text:
        return Diagnosis(
            reason=Reason.INSUFFICIENT_ACCELERATORS,
            message=f"no node has {context.plan.devices} × {context.plan.resource_name} free ({sentence(text)}); "
            "free one, add a node, or lower spec.gpu.count",
            heals=True,
        )
    return Diagnosis(
        reason=Reason.UNSCHEDULABLE,
        message=f"no node fits: {sentence(text)}; check spec.gpu.type, spec.pod.nodeSelector and spec.pod.tolerations",
        heals=True,
    )


def _image(context: PodContext) -> Diagnosis | None:
    reason, image = context.waiting.get("reason"), context.plan.container.image
    if reason == "InvalidImageName":
        message = f"{image} is not an image reference; correct spec.engineOptions.image"
        return Diagnosis(reason=Reason.IMAGE_NAME_INVALID, message=message)
    if reason in _IMAGE_TROUBLE:
        cause = sentence(context.waiting.get("message", "")) or str(reason)
        message = f"image {image} cannot be pulled: {cause}; check it, spec.pod.imagePullSecrets and the registry"
        return Diagnosis(reason=Reason.IMAGE_PULL_FAILED, message=message)
    return None


def _configuration(context: PodContext) -> Diagnosis | None:
    if context.waiting.get("reason") in _REFUSALS:
        return cannot_be_made(context, str(context.waiting.get("message", "")))
    return None


def _sidecar(context: PodContext) -> Diagnosis | None:
    """A container that a webhook put before or beside the engine, and that fails."""
    for container in sidecars_of(context.pod):
        if failure := _failure(container):
            reason, cause = failure
            message = f"container {container.get('name')}, which is not the operator's, fails ({sentence(cause)}); "
            way_out = "ask who runs what puts it into pods, or keep it out of this one"
            return Diagnosis(reason=reason, message=message + way_out)
    return None


def _failure(container: Mapping[str, Any]) -> tuple[Reason, str] | None:
    """Why a container has not done its work; of one that is tried again, how it ended last."""
    waiting, end = waiting_of(container), last_end_of(container)
    reason = str(waiting.get("reason", ""))
    if reason in _IMAGE_TROUBLE or reason in _REFUSALS:
        named = Reason.IMAGE_PULL_FAILED if reason in _IMAGE_TROUBLE else Reason.CONTAINER_REFUSED
        return named, f"{reason}: {waiting.get('message') or reason}"
    if end.get("exitCode") and not container.get("ready"):
        return (
            Reason.CRASH_LOOPING,
            f"exit code {end['exitCode']}: {end.get('message') or end.get('reason') or 'no word'}",
        )
    return None


def _preparation(context: PodContext) -> Diagnosis | None:
    """What came after the last end of the engine: an older warning was over before it ran."""
    if context.last_end and context.preparation.since <= str(context.last_end.get("finishedAt") or ""):
        return None
    return obstructed(context.preparation, context.plan.owner.namespace)


def _silent(context: PodContext) -> Diagnosis | None:
    """It served and does no more, although its container runs as far as anybody knows."""
    ready = condition(context.pod, "Ready")
    since = str(ready.get("lastTransitionTime") or "")
    if not has_started(context.engine):
        return None
    if context.engine.get("ready"):
        if condition(context.pod, "ContainersReady").get("status") != "True" or ready.get("reason"):
            return None  # a container beside it, or a readiness gate
        node = context.pod.get("spec", {}).get("nodeName", "")
        message = (
            f"node {node} does not answer: see kubectl describe node; after five minutes the pod is made elsewhere"
        )
        return Diagnosis(reason=Reason.NODE_LOST, message=message, heals=True, since=since)
    if not has_served(context.pod):
        return None
    message = "the engine runs and does not answer its health check: see its log; if it goes on it is started again"
    return Diagnosis(reason=Reason.ENGINE_UNRESPONSIVE, message=message, heals=True, since=since)


def _ended_by_node(living: Sequence[Manifest], pods: Iterable[Manifest]) -> Diagnosis | None:
    """The last pod that its node ended or refused, while nothing has come of those made in its place.

    One that replaces a pod of long ago has a start of its own; of those that are refused one after the other, the
    next is made at once. While there is none, nobody knows how long ago the last one ended.
    """
    ended = [pod for pod in pods if has_ended(pod) and (pod.get("status") or {}).get("reason")]
    if not ended:
        return None
    last = newest_first(ended)[0]
    successors = [pod for pod in living if created_at(pod) >= created_at(last)]
    nothing_yet = [running_of(engine_of(pod)) is None and _is_soon_after(pod, last) for pod in successors]
    if not nothing_yet or not all(nothing_yet):
        return None
    status = last["status"]
    message = f"a pod was ended by its node ({status['reason']}: {sentence(status.get('message', ''))}); "
    return Diagnosis(reason=Reason.NODE_LOST, message=message + "it is replaced by itself", heals=True)


def _is_soon_after(pod: Manifest, earlier: Manifest) -> bool:
    if not (created_at(pod) and created_at(earlier)):
        return True
    made, before = (datetime.fromisoformat(created_at(item)) for item in (pod, earlier))
    return (made - before).total_seconds() <= _SOON_SECONDS


_CHECKS: tuple[Callable[[PodContext], Diagnosis | None], ...] = (
    _unclaimed,
    _unscheduled,
    _image,
    _configuration,
    _preparation,
    crash,
    _sidecar,
    _silent,
)
"""In this order: each later state implies that the earlier ones are over."""
