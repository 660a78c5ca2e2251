"""Whether a pod's volumes are mounted and its sandbox is created: only the kubelet's Events say so.

Until then the container status is just ContainerCreating or PodInitializing. The kubelet mounts the volumes, creates
the sandbox and pulls the image, in this order (pkg/kubelet/kubelet.go, SyncPod), and reports each failure in an Event
with a reason of its own (pkg/kubelet/events/event.go). Other warnings about a pod, such as the scheduler's, do not
count.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.missing import find_missing
from llmservice.objects.references import Manifest
from llmservice.untrusted.patterns import compiled

UNPREPARED = frozenset({"ContainerCreating", "PodInitializing"})
"""The waiting reasons of a container that is not created yet."""
PREPARED = frozenset({"Pulling", "Pulled"})
"""Event reasons which imply that volumes are mounted and the sandbox is created."""

_PULL_ENDS = frozenset({"Pulled", "Failed", "BackOff", "Created", "Started"})
_PULLED_IMAGE = compiled(r'Pulling image "(?P<image>[^"]{1,512})"')
"""pkg/kubelet/images/image_manager.go."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How far the kubelet is: done (`over`), or failing with `warning`, the message of an Event with this reason.

    `since` is the RFC 3339 time of the first such Event. `pulling` is the image that is being pulled, `pulling_since`
    since when.
    """

    over: bool = False
    reason: str = ""
    warning: str = ""
    since: str = ""
    pulling: str = ""
    pulling_since: str = ""


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: Reason
    text: str
    remedy: str
    startup_grace_seconds: float


_VOLUME = _Failure(
    Reason.VOLUME_MOUNT_FAILED,
    "a volume cannot be mounted",
    "check spec.model.uri, spec.engineOptions.files and spec.auth.keysSecretRef",
    10.0,
)
_SANDBOX = _Failure(
    Reason.POD_SANDBOX_FAILED,
    "the node cannot create the pod's sandbox",
    "check the node's network plugin and, where one is set, the handler of spec.pod.runtimeClassName",
    20.0,  # the kubelet retries after 10 to 15 s
)
_FAILURES = {
    "FailedMount": _VOLUME,
    "FailedAttachVolume": _VOLUME,
    "FailedMapVolume": _VOLUME,
    "FailedCreatePodSandBox": _SANDBOX,
    "NetworkNotReady": _SANDBOX,
}


def preparation(events: Iterable[Manifest]) -> Preparation:
    """How far a pod is, from its Events in any order; times have whole seconds, and in the same second success wins."""
    events = list(events)
    prepared_at = max((_last(item) for item in events if item.get("reason") in PREPARED), default="")
    warnings = [item for item in events if item.get("reason") in _FAILURES and _last(item) > prepared_at]
    if not warnings:
        return Preparation(bool(prepared_at), "", "", "", *_pull(events))
    newest = max(warnings, key=_last)
    return Preparation(
        reason=newest["reason"], warning=str(newest.get("message", "")), since=min(map(_first, warnings))
    )


def preparation_failure(preparation: Preparation, namespace: str) -> Diagnosis | None:
    """The diagnosis of a failing preparation; None when it is not failing."""
    failure = _FAILURES.get(preparation.reason)
    if failure is None:
        return None
    if missing := find_missing(preparation.warning, namespace, preparation.since):
        return missing
    return Diagnosis(
        reason=failure.reason,
        message=f"{failure.text}: {sentence(preparation.warning)}; {failure.remedy}",
        self_healing=True,
        since=preparation.since,
        startup_grace_seconds=failure.startup_grace_seconds,
    )


def _pull(events: Iterable[Manifest]) -> tuple[str, str]:
    """The image that is being pulled, and since when; empty texts when none is. In the same second the end wins."""
    of_pulls = [item for item in events if item.get("reason") in _PULL_ENDS or item.get("reason") == "Pulling"]
    newest = max(of_pulls, key=lambda item: (_last(item), item.get("reason") in _PULL_ENDS), default={})
    named = _PULLED_IMAGE.first(str(newest.get("message", ""))) if newest.get("reason") == "Pulling" else None
    return (named["image"], _last(newest)) if named else ("", "")


def _first(event: Manifest) -> str:
    return str(event.get("firstTimestamp") or _last(event))


def _last(event: Manifest) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")
