"""Why a workload does not serve: the checks of a pod that is not ready, each with one reason and one remedy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.crashes import container_refused, crashed
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.evictions import disk_full, eviction_cause
from llmservice.converging.missing import find_missing
from llmservice.converging.observed import Observed
from llmservice.converging.pod_context import PodContext
from llmservice.converging.preparation import Preparation, preparation_failure
from llmservice.converging.redaction import LONGEST_TEXT
from llmservice.engines.engine import LogPattern
from llmservice.objects.groups import place_in_group
from llmservice.objects.names import PROXY_NAME
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
from llmservice.planning.proxy_plan import ProxyPlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.untrusted.patterns import compiled

_IMAGE_PULL_ERRORS = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable"})
_CONTAINER_ERRORS = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
_REPLACED_WITHIN_SECONDS = 120.0
_INSUFFICIENT = compiled(r"Insufficient (?P<resource>cpu|memory|ephemeral-storage)")
"""What the scheduler says of a resource that no node has enough of (plugins/noderesources/fit.go)."""


def diagnose(
    plan: ServicePlan, observed: Observed, deployment: Manifest | None, log_patterns: Sequence[LogPattern]
) -> Diagnosis | None:
    """The first failed check of the newest pod that is not ready, of a group's workers first; None where none failed.

    A Deployment that cannot create pods at all comes first: then there is no pod to check. Pods that were terminated
    come last: others were created in their place.
    """
    if deployment is not None and (rejected := _pods_rejected(deployment)):
        return rejected
    living = newest_first(filter(is_living, observed.pods))
    for pod in (*newest_first(filter(is_living, observed.workers)), *living):
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
                return _in_group(diagnosis, place_in_group(pod))
    return _terminated_by_node(living, observed.pods)


def _in_group(diagnosis: Diagnosis, place: str) -> Diagnosis:
    """The diagnosis; of a group's pod with which one it is, because the others wait for it."""
    return replace(diagnosis, message=f"{place}: {diagnosis.message}") if place else diagnosis


def _pods_rejected(deployment: Manifest) -> Diagnosis | None:
    """The API server rejects the pods of the ReplicaSet: a quota, Pod Security, an admission policy."""
    failure = condition(deployment, "ReplicaFailure")
    if failure.get("status") != "True":
        return None
    return Diagnosis(
        reason=Reason.PODS_REFUSED,
        message=f"the API server rejects the pods: {sentence(failure.get('message', ''))}; "
        "ask the administrator of the namespace to allow them (quota, Pod Security, admission policy)",
        uncertain=True,
    )


def _scheduler_absent(context: PodContext) -> Diagnosis | None:
    """No scheduler has tried to place the pod: spec.schedulerName names one that is missing or not running."""
    name = context.plan.pod.passthrough.get("schedulerName")
    if not name or is_placed(context.pod) or condition(context.pod, "PodScheduled"):
        return None
    message = f"scheduler {name} has not tried to place the pod: check that it runs, or correct spec.pod.schedulerName"
    return Diagnosis(reason=Reason.UNSCHEDULABLE, message=message, self_healing=True)


def _unschedulable(context: PodContext) -> Diagnosis | None:
    """The scheduler finds no node: gated, a claim is missing, too few devices, or no node fits."""
    scheduled = condition(context.pod, "PodScheduled")
    if scheduled.get("status") != "False":
        return None
    text = str(scheduled.get("message", ""))
    if scheduled.get("reason") == "SchedulingGated":
        message = f"scheduling is gated: {sentence(text)}; wait until the gate is removed (by a queue such as Kueue)"
        return Diagnosis(reason=Reason.UNSCHEDULABLE, message=message, self_healing=True)
    since = str(scheduled.get("lastTransitionTime") or "")
    if missing := find_missing(text, context.plan.owner.namespace, since):
        return missing
    if context.plan.resource_name and f"Insufficient {context.plan.resource_name}" in text:
        return Diagnosis(
            reason=Reason.INSUFFICIENT_ACCELERATORS,
            message=f"no node has {context.plan.devices_of_node} × {context.plan.resource_name} free "
            f"({sentence(text)}); free one, add a node, or lower spec.gpu.count",
            self_healing=True,
        )
    return disk_full(text) or _no_node_fits(text)


def _no_node_fits(text: str) -> Diagnosis:
    if lacking := _INSUFFICIENT.first(text[:LONGEST_TEXT]):
        resource = lacking["resource"]
        message = f"no node has enough {resource} free: {sentence(text)}; lower spec.pod.resources.requests.{resource}"
        return Diagnosis(reason=Reason.UNSCHEDULABLE, message=f"{message}, or add a node", self_healing=True)
    return Diagnosis(
        reason=Reason.UNSCHEDULABLE,
        message=f"no node fits: {sentence(text)}; check spec.gpu.type, spec.pod.nodeSelector and spec.pod.tolerations",
        self_healing=True,
    )


def _image_pull_failed(context: PodContext) -> Diagnosis | None:
    """The image name is invalid, or the image cannot be pulled."""
    reason, image = context.waiting.get("reason"), context.plan.container.image
    if reason == "InvalidImageName":
        message = f"{image} is not an image reference; correct spec.engineOptions.image"
        return Diagnosis(reason=Reason.IMAGE_NAME_INVALID, message=message, failed_starts=0)
    if reason in _IMAGE_PULL_ERRORS:
        if disk := disk_full(str(context.waiting.get("message", ""))):
            return disk
        cause = sentence(context.waiting.get("message", "")) or str(reason)
        message = f"image {image} cannot be pulled: {cause}; check its name, spec.pod.imagePullSecrets and the registry"
        return Diagnosis(reason=Reason.IMAGE_PULL_FAILED, message=message, uncertain=True)
    return None


def _container_refused(context: PodContext) -> Diagnosis | None:
    """The kubelet cannot create the engine's container: configuration, mounts or command."""
    if context.waiting.get("reason") in _CONTAINER_ERRORS:
        return container_refused(context, str(context.waiting.get("message", "")))
    return None


def _sidecar_failed(context: PodContext) -> Diagnosis | None:
    """The proxy before the engine fails, or a sidecar or init container that a webhook injected."""
    for container in sidecars_of(context.pod):
        if failure := _container_failure(container):
            reason, cause = failure
            if context.plan.proxy and container.get("name") == PROXY_NAME:
                return _proxy_failed(reason, cause, context.plan.proxy)
            message = f"injected container {container.get('name')} fails ({sentence(cause)}); "
            remedy = "ask the owner of the injecting webhook, or opt this pod out"
            return Diagnosis(reason=reason, message=message + remedy, uncertain=True)
    return None


def _proxy_failed(reason: Reason, cause: str, proxy: ProxyPlan) -> Diagnosis:
    if reason is Reason.IMAGE_PULL_FAILED:
        remedy = f"let nodes pull {proxy.image}: set a mirror for it, or another one in the catalogue (proxy.yaml)"
    else:
        remedy = "see kubectl logs -c proxy; set another image in the catalogue (proxy.yaml)"
    message = f"the proxy before the engine fails ({sentence(cause)}); {remedy}"
    return Diagnosis(reason=reason, message=message, uncertain=True)


def _container_failure(container: Mapping[str, Any]) -> tuple[Reason, str] | None:
    """Why a container fails: it cannot start, or exited with an error and has not recovered."""
    waiting, end = waiting_of(container), last_end_of(container)
    reason = str(waiting.get("reason", ""))
    if reason in _IMAGE_PULL_ERRORS or reason in _CONTAINER_ERRORS:
        named = Reason.IMAGE_PULL_FAILED if reason in _IMAGE_PULL_ERRORS else Reason.CONTAINER_REFUSED
        return named, f"{reason}: {waiting.get('message') or reason}"
    if end.get("exitCode") and not container.get("ready"):
        return (
            Reason.CRASH_LOOPING,
            f"exit code {end['exitCode']}: {end.get('message') or end.get('reason') or 'no message'}",
        )
    return None


def _volumes_or_sandbox_failed(context: PodContext) -> Diagnosis | None:
    """The kubelet cannot mount a volume or create the sandbox; warnings from before the last run do not count."""
    if context.last_end and context.preparation.since <= str(context.last_end.get("finishedAt") or ""):
        return None
    return preparation_failure(context.preparation, context.plan.owner.namespace)


def _unresponsive(context: PodContext) -> Diagnosis | None:
    """The engine was ready and is not any more: its node is lost, or it fails its health check."""
    ready = condition(context.pod, "Ready")
    since = str(ready.get("lastTransitionTime") or "")
    if not has_started(context.engine):
        return None
    if context.engine.get("ready"):
        if condition(context.pod, "ContainersReady").get("status") != "True" or ready.get("reason"):
            return None  # waits for a sidecar or a readiness gate
        node = context.pod.get("spec", {}).get("nodeName", "")
        message = f"node {node} is not responding: see kubectl describe node; after five minutes the pod is replaced"
        return Diagnosis(reason=Reason.NODE_LOST, message=message, self_healing=True, since=since)
    if not has_served(context.pod):
        return None
    message = "the engine is running but fails its health check: see its log; if this goes on the kubelet restarts it"
    return Diagnosis(reason=Reason.ENGINE_UNRESPONSIVE, message=message, self_healing=True, since=since)


def _terminated_by_node(living: Sequence[Manifest], pods: Iterable[Manifest]) -> Diagnosis | None:
    """The last pod that its node evicted or rejected, while none of its replacements has started an engine.

    Replacements are created at once, so a pod that is much younger has a start of its own. Without a replacement it is
    not known how long ago the pod was terminated.
    """
    terminated = [pod for pod in pods if has_ended(pod) and (pod.get("status") or {}).get("reason")]
    if not terminated:
        return None
    last = newest_first(terminated)[0]
    replacements = [pod for pod in living if created_at(pod) >= created_at(last)]
    not_started = [running_of(engine_of(pod)) is None and _replaces(pod, last) for pod in replacements]
    if not not_started or not all(not_started):
        return None
    status = last["status"]
    if eviction := eviction_cause(str(status.get("message", ""))):
        return eviction
    message = f"a pod was terminated by its node ({status['reason']}: {sentence(status.get('message', ''))}); "
    return Diagnosis(reason=Reason.NODE_LOST, message=message + "it is replaced automatically", self_healing=True)


def _replaces(pod: Manifest, earlier: Manifest) -> bool:
    """Whether a pod was created so soon after another one that it takes its place."""
    if not (created_at(pod) and created_at(earlier)):
        return True
    made, before = (datetime.fromisoformat(created_at(item)) for item in (pod, earlier))
    return (made - before).total_seconds() <= _REPLACED_WITHIN_SECONDS


_CHECKS: tuple[Callable[[PodContext], Diagnosis | None], ...] = (
    _scheduler_absent,
    _unschedulable,
    _image_pull_failed,
    _container_refused,
    _volumes_or_sandbox_failed,
    crashed,
    _sidecar_failed,
    _unresponsive,
)
"""In the order of a pod's life: reaching a later state implies that the earlier ones are past."""
