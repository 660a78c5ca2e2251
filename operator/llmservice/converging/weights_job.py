"""What is read of a download's Job: whether it is the operator's, its pods, its answer, and what is in its way."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.resource import GROUP, KIND
from llmservice.converging.diagnosis import sentence
from llmservice.converging.inspection_pods import answer_of_pod, has_job_ended, why_no_answer
from llmservice.models.download_answer import DownloadedModel, result_in
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.objects.names import DOWNLOAD_CONTAINER, INTENT_ANNOTATION
from llmservice.objects.pods import created_at, newest_first
from llmservice.objects.references import Manifest, controller_of, controller_uid, uid_of

_DECIDES = ("--root=", "--format=", "--revision=", "--file=", "--quantization=")
"""Options that say what is downloaded, and to where."""


def is_download_of(live: Manifest, intent: Manifest) -> bool:
    """Whether a Job of this name downloads what was asked for, and an LLMService controls it.

    It may have been asked for with another token or limit, or by an older operator. Whoever may create Jobs here can
    make one that says what it likes; with the same right they write to the claim itself.
    """
    container, wanted = _container(live), _container(intent)
    return (
        is_operators(live) and bool(container) and not container.get("command") and _asked(container) == _asked(wanted)
    )


def is_operators(job: Manifest) -> bool:
    """Whether an LLMService controls a Job."""
    owner = controller_of(job)
    return owner.get("kind") == KIND and str(owner.get("apiVersion", "")).partition("/")[0] == GROUP


def asked_as(job: Manifest) -> str:
    """In which way it was asked for: the same for the same token, place and limits."""
    return str((job["metadata"].get("annotations") or {}).get(INTENT_ANNOTATION, ""))


def pods_of_job(job: Manifest, pods: Iterable[Manifest]) -> list[Manifest]:
    """The pods that the Job made, by its UID, newest first."""
    return newest_first(pod for pod in pods if controller_uid(pod) == uid_of(job))


def result_of(job: Manifest, pods: Sequence[Manifest]) -> DownloadedModel | DownloadFailure | None:
    """What the Job answered; None while it goes on. A failure counts when the Job has ended: until then pods follow."""
    ended = has_job_ended(job)
    for text in filter(None, map(answer_of_pod, pods)):
        result = result_in(text)
        if ended or isinstance(result, DownloadedModel) or not result.is_worth_retrying:
            return result
    if not ended:
        return None
    why = why_no_answer(pods[0] if pods else None, ())
    return DownloadFailure(reason=DownloadFailureReason.NO_ANSWER, message=why)


def address_of(pods: Sequence[Manifest]) -> str:
    """Where the running pod's metrics are; empty while none runs."""
    for pod in pods:
        if "running" in _status(pod).get("state", {}):
            return str((pod.get("status") or {}).get("podIP") or "")
    return ""


def obstacle(pods: Sequence[Manifest], events: Iterable[Manifest]) -> str:
    """What keeps the newest pod from running, or how the last one ended: another one follows it after a while."""
    ended = _status(pods[0]).get("state", {}).get("terminated") if pods else None
    if ended is None:
        return why_no_answer(pods[0] if pods else None, events)
    how = f"{ended.get('reason')}, exit code {ended.get('exitCode')}"
    return f"its pod ended ({sentence(how)}); another one follows and goes on where it was"


def pending_seconds(job: Manifest, pods: Sequence[Manifest], now: datetime) -> float:
    """For how long nothing runs of a Job that goes on."""
    if address_of(pods):
        return 0.0
    since = created_at(pods[0]) if pods else created_at(job)
    return (now - datetime.fromisoformat(since)).total_seconds() if since else 0.0


def _container(job: Manifest) -> Manifest:
    """The only container of its pods; empty where there are others beside it."""
    pod = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    containers: list[Manifest] = pod.get("containers") or []
    is_alone = len(containers) == 1 and not pod.get("initContainers")
    return containers[0] if is_alone and containers[0].get("name") == DOWNLOAD_CONTAINER else {}


def _asked(container: Manifest) -> tuple[Any, ...]:
    arguments = [str(one) for one in container.get("args") or ()]
    verb, uri = (arguments[0], arguments[-1]) if arguments else ("", "")
    return verb, uri, tuple(sorted(one for one in arguments if one.startswith(_DECIDES)))


def _status(pod: Manifest) -> dict[str, Any]:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return next((item for item in statuses if item.get("name") == DOWNLOAD_CONTAINER), {})
