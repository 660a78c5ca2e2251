"""What keeps a workload from serving: the pods' own trouble as one reason and one sentence with the way out."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.missing import find_missing
from llmservice.converging.observed import Observed
from llmservice.converging.preparation import Preparation, obstructed
from llmservice.converging.references import Manifest
from llmservice.converging.trouble import Trouble, sentence
from llmservice.engines.engine import Signature
from llmservice.planning.service_plan import ServicePlan

_KILLED = 137


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One pod under examination, with what is needed to judge it."""

    pod: Manifest
    plan: ServicePlan
    signatures: Sequence[Signature]
    log_tail: str
    preparation: Preparation

    @property
    def container(self) -> Mapping[str, Any]:
        statuses: Sequence[Mapping[str, Any]] = self.pod.get("status", {}).get("containerStatuses") or ({},)
        return statuses[0]

    @property
    def waiting(self) -> Mapping[str, Any]:
        return self.container.get("state", {}).get("waiting") or {}

    @property
    def last_end(self) -> Mapping[str, Any]:
        """How the container ended last: now, or before the present restart."""
        now = self.container.get("state", {}).get("terminated")
        return now or self.container.get("lastState", {}).get("terminated") or {}


def diagnose(
    plan: ServicePlan, observed: Observed, deployment: Manifest | None, signatures: Sequence[Signature]
) -> Trouble | None:
    """The most telling trouble of the newest pod that is not ready; None while nothing is wrong.

    A Deployment that may not create pods at all comes first: then there is no pod to ask.
    """
    if deployment is not None and (refused := _refused_pods(deployment)):
        return refused
    for pod in _newest_first(pod for pod in observed.pods if not is_ready(pod)):
        name = pod["metadata"]["name"]
        case = _Case(
            pod=pod,
            plan=plan,
            signatures=signatures,
            log_tail=observed.log_tails.get(name, ""),
            preparation=observed.preparations.get(name, Preparation()),
        )
        for check in _CHECKS:
            if trouble := check(case):
                return trouble
    return None


def is_ready(pod: Manifest) -> bool:
    """Whether a pod is ready and not on its way out."""
    return condition(pod, "Ready").get("status") == "True" and "deletionTimestamp" not in pod["metadata"]


def condition(manifest: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of this type; empty when there is none."""
    conditions = manifest.get("status", {}).get("conditions") or ()
    return next((item for item in conditions if item.get("type") == kind), {})


def _newest_first(pods: Iterable[Manifest]) -> list[Manifest]:
    living = (pod for pod in pods if "deletionTimestamp" not in pod["metadata"])
    return sorted(living, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")), reverse=True)


def _refused_pods(deployment: Manifest) -> Trouble | None:
    failure = condition(deployment, "ReplicaFailure")
    if failure.get("status") != "True":
        return None
    return Trouble(
        reason=Reason.PODS_REFUSED,
        message=f"the cluster refuses the pods: {sentence(failure.get('message', ''))}; "
        "ask who runs the namespace to allow them (quota, Pod Security, admission policy)",
    )


def _unclaimed(case: _Case) -> Trouble | None:
    """A scheduler says within moments that it has looked; one that does not exist says nothing, for ever."""
    name = case.plan.pod.passthrough.get("schedulerName")
    if not name or case.pod.get("spec", {}).get("nodeName") or condition(case.pod, "PodScheduled"):
        return None
    message = f"scheduler {name} has not looked at the pod: check that it runs, or correct spec.pod.schedulerName"
    return Trouble(reason=Reason.UNSCHEDULABLE, message=message, heals=True)


def _unscheduled(case: _Case) -> Trouble | None:
    scheduled = condition(case.pod, "PodScheduled")
    if scheduled.get("status") != "False":
        return None
    text = str(scheduled.get("message", ""))
    if found := find_missing(text, case.plan.owner.namespace):
        since = str(scheduled.get("lastTransitionTime") or "")
        return Trouble(reason=found[0], message=found[1], heals=True, since=since)
    if case.plan.resource_name and f"Insufficient {case.plan.resource_name}" in text:
        return Trouble(
            reason=Reason.INSUFFICIENT_ACCELERATORS,
            message=f"no node has {case.plan.devices} × {case.plan.resource_name} free ({sentence(text)}); "
            "free one, add a node, or lower spec.gpu.count",
            heals=True,
        )
    return Trouble(
        reason=Reason.UNSCHEDULABLE,
        message=f"no node fits: {sentence(text)}; check spec.gpu.type, spec.pod.nodeSelector and spec.pod.tolerations",
        heals=True,
    )


def _image(case: _Case) -> Trouble | None:
    reason, image = case.waiting.get("reason"), case.plan.container.image
    if reason == "InvalidImageName":
        message = f"{image} is not an image reference; correct spec.engineOptions.image"
        return Trouble(reason=Reason.IMAGE_NAME_INVALID, message=message)
    if reason in {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "RegistryUnavailable"}:
        cause = sentence(case.waiting.get("message", "")) or str(reason)
        message = f"image {image} cannot be pulled: {cause}; check it, spec.pod.imagePullSecrets and the registry"
        return Trouble(reason=Reason.IMAGE_PULL_FAILED, message=message)
    return None


def _configuration(case: _Case) -> Trouble | None:
    reason, text = str(case.waiting.get("reason", "")), str(case.waiting.get("message", ""))
    if reason in {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}:
        if found := find_missing(text, case.plan.owner.namespace):
            return Trouble(reason=found[0], message=found[1], heals=True)
        message = f"the container cannot be made: {sentence(text)}; check spec.engineOptions and spec.pod"
        return Trouble(reason=Reason.CONTAINER_REFUSED, message=message)
    return None


def _preparation(case: _Case) -> Trouble | None:
    if case.waiting.get("reason") not in {"ContainerCreating", "PodInitializing", None}:
        return None
    return obstructed(case.preparation, case.plan.owner.namespace)


def _crash(case: _Case) -> Trouble | None:
    end = case.last_end
    if not end or (end.get("exitCode") == 0 and case.waiting.get("reason") != "CrashLoopBackOff"):
        return None
    if end.get("reason") == "OOMKilled":
        limit = case.plan.container.resource_limits.get("memory", "the node's memory")
        message = f"the engine used more than {limit} of memory and was killed; raise spec.pod.resources.limits.memory"
        return Trouble(reason=Reason.OUT_OF_MEMORY, message=message)
    text = f"{end.get('message', '')}\n{case.log_tail}"
    return _named_by_engine(case, text) or _timed_out(case, end) or _unnamed(end, text)


def _named_by_engine(case: _Case, text: str) -> Trouble | None:
    for signature in case.signatures:
        if match := re.search(signature.pattern, text, re.MULTILINE):
            line = sentence(_line_around(text, match.start()))
            return Trouble(reason=signature.reason, message=f"{line}; {signature.remedy}")
    return None


def _timed_out(case: _Case, end: Mapping[str, Any]) -> Trouble | None:
    """Killed without ever having started: the startup probe gave up (the kubelet kills with 137 after the grace)."""
    if end.get("exitCode") != _KILLED or case.container.get("started"):
        return None
    message = (
        f"the model was not loaded within {case.plan.container.startup_seconds} s and the engine was started again; "
        "raise spec.startup.timeoutSeconds"
    )
    return Trouble(reason=Reason.STARTUP_TIMED_OUT, message=message)


def _unnamed(end: Mapping[str, Any], text: str) -> Trouble:
    lines = [line for line in text.splitlines() if line.strip()]
    telling = f": {sentence(_telling_line(lines))}" if lines else ""
    message = f"the engine ended with exit code {end.get('exitCode')}{telling}; see kubectl logs --previous"
    return Trouble(reason=Reason.CRASH_LOOPING, message=message)


_ROOT_CAUSE = re.compile(r"\b\w*(?:Error|Exception): (?!.*See root cause above)")


def _telling_line(lines: Sequence[str]) -> str:
    """The last exception that does not point to an earlier one; else the last line."""
    return next((line for line in reversed(lines) if _ROOT_CAUSE.search(line)), lines[-1])


def _lost(case: _Case) -> Trouble | None:
    status = case.pod.get("status", {})
    if status.get("phase") == "Failed" and status.get("reason"):
        message = f"a pod was ended by its node ({status['reason']}: {sentence(status.get('message', ''))}); "
        return Trouble(reason=Reason.NODE_LOST, message=message + "it is replaced by itself", heals=True)
    return None


_CHECKS: tuple[Callable[[_Case], Trouble | None], ...] = (
    _unclaimed,
    _unscheduled,
    _lost,
    _image,
    _configuration,
    _crash,
    _preparation,
)
"""In this order: each later state implies that the earlier ones are over."""


def _line_around(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else len(text)].strip()
