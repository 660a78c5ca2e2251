"""What is read of an inspection's Job: whether it is the one that was asked for, its answer, and why it has none."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.api.v1alpha1.resource import GROUP, KIND
from llmservice.converging.diagnosis import sentence
from llmservice.converging.intent import covers
from llmservice.converging.preparation import preparation
from llmservice.objects.names import DOWNLOAD_CONTAINER, INSPECTION_CONTAINER
from llmservice.objects.pods import condition, created_at, waiting_of
from llmservice.objects.references import Manifest, controller_of, controller_uid, uid_of

_REFUSED_POD = "FailedCreate"
"""Reason of the job controller's Event (pkg/controller/controller_utils.go)."""
_CONTAINERS = frozenset({INSPECTION_CONTAINER, DOWNLOAD_CONTAINER})
_ENDS = ("Complete", "Failed")
_ONE_OF = ("env", "volumeMounts")


def is_as_asked(live: Manifest, intent: Manifest) -> bool:
    """Whether a Job of this name runs what was asked for and nothing beside it, and an LLMService controls it.

    Whoever may create Jobs can make another one of this name; with one like ours they win nothing.
    """
    owner = controller_of(live)
    if owner.get("kind") != KIND or str(owner.get("apiVersion", "")).partition("/")[0] != GROUP:
        return False
    spec, wanted = live.get("spec") or {}, intent["spec"]
    pod = (spec.get("template") or {}).get("spec") or {}
    containers: list[Manifest] = pod.get("containers") or []
    if not covers(spec, wanted) or len(containers) != 1 or pod.get("initContainers"):
        return False
    return _is_same(containers[0], wanted["template"]["spec"]["containers"][0])


def _is_same(container: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """No command, hook or mount that was not asked for: an intent covers what it does not name."""
    same = all(len(container.get(field) or ()) == len(wanted.get(field) or ()) for field in _ONE_OF)
    return same and {name for name, value in container.items() if value} <= wanted.keys()


def pod_of(job: Manifest, pods: Iterable[Manifest]) -> Manifest | None:
    """The pod that the Job made, by its UID; the first, if somebody made another one in its name."""
    made = [pod for pod in pods if controller_uid(pod) == uid_of(job)]
    return min(made, key=created_at, default=None)


def answer_of_pod(pod: Manifest) -> str | None:
    """The termination message, which anybody may have written; None until the container has ended."""
    ended = _status(pod).get("state", {}).get("terminated")
    return None if ended is None else str(ended.get("message") or "")


def has_job_ended(job: Manifest) -> bool:
    """Whether the Job is complete or has failed."""
    return any(condition(job, kind).get("status") == "True" for kind in _ENDS)


def why_no_answer(pod: Manifest | None, events: Iterable[Manifest]) -> str:
    """Why there is none, in some words; `events` are those of the pod, or without one of the Job."""
    if pod is None:
        refused = [str(event.get("message")) for event in events if event.get("reason") == _REFUSED_POD]
        return f"the Job's pod is refused: {sentence(refused[-1])}" if refused else "the Job has no pod"
    if ended := _status(pod).get("state", {}).get("terminated"):
        return sentence(f"the Job ended without an answer ({ended.get('reason')}, exit code {ended.get('exitCode')})")
    scheduled, status = condition(pod, "PodScheduled"), pod.get("status") or {}
    if scheduled.get("status") == "False":
        return (
            f"no node takes the Job's pod: {sentence(str(scheduled.get('message') or scheduled.get('reason') or ''))}"
        )
    if warning := preparation(events).warning:
        return f"the Job's pod does not start: {sentence(warning)}"
    waiting = waiting_of(_status(pod))
    if waiting.get("message"):
        why = f"{waiting.get('reason')}: {waiting.get('message')}"
        return f"the Job's pod does not start: {sentence(why)}"
    return sentence(str(status.get("message") or "the Job has not ended"))


def not_inspected(why: str) -> str:
    """What a service's status says where its model was to be looked at and was not; `why` may quote strangers."""
    return f"the model was not inspected: {sentence(why)}; state what you know of it in spec.model.facts"


def _status(pod: Manifest) -> Mapping[str, Any]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return next((item for item in statuses if item.get("name") in _CONTAINERS), {})
