"""Whose log matters first: of the containers of a service the one that fails, else one that starts, else the newest."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.objects.names import CONTAINER_NAME, DOWNLOAD_CONTAINER, INSPECTION_CONTAINER, PROXY_NAME
from llmservice.objects.pods import condition
from llmservice.objects.references import Manifest, Ref, is_being_deleted

OF_PODS = (CONTAINER_NAME, PROXY_NAME)
OF_JOBS = {DOWNLOAD_CONTAINER: "download", INSPECTION_CONTAINER: "inspection"}
"""Containers of Jobs, and the label `app.kubernetes.io/component` of those Jobs."""

_FAILING, _STARTING, _RUNNING, _ENDING = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A container: its pod, what is said of it, and whether there is a log of this run, and of the one before it."""

    pod: str
    namespace: str
    container: str
    state: str
    rank: int
    created: str
    has_log: bool
    has_previous: bool

    @property
    def ref(self) -> Ref:
        """Its pod."""
        return Ref("Pod", self.namespace, self.pod)


def logs_of(pods: Iterable[Manifest], container: str) -> list[Log]:
    """The logs of this container, the one that matters first first; those of pods without it are left out."""
    found = [_log(pod, container) for pod in pods if _has(pod, container)]
    newest_first = sorted(found, key=lambda log: (log.created, log.pod), reverse=True)
    return sorted(newest_first, key=lambda log: log.rank)


def _has(pod: Manifest, container: str) -> bool:
    spec = pod.get("spec") or {}
    return any(
        each.get("name") == container for part in ("containers", "initContainers") for each in spec.get(part) or ()
    )


def _log(pod: Manifest, container: str) -> Log:
    status = _status(pod, container)
    state, last = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
    return Log(
        pod=str(pod["metadata"]["name"]),
        namespace=str(pod["metadata"].get("namespace", "")),
        container=container,
        state=_said(pod, state),
        rank=_rank(pod, status),
        created=str(pod["metadata"].get("creationTimestamp", "")),
        has_log="running" in state or "terminated" in state or bool(last),
        has_previous=bool(last),
    )


def _status(pod: Manifest, container: str) -> Mapping[str, Any]:
    status = pod.get("status") or {}
    every = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return next((each for each in every if each.get("name") == container), {})


def _rank(pod: Manifest, status: Mapping[str, Any]) -> int:
    if is_being_deleted(pod):
        return _ENDING
    state = status.get("state") or {}
    ended = state.get("terminated") or {}
    crashes = (state.get("waiting") or {}).get("reason") == "CrashLoopBackOff"
    if ended.get("exitCode") or crashes or (not status.get("ready") and status.get("restartCount")):
        return _FAILING
    return _RUNNING if status.get("ready") or ended else _STARTING


def _said(pod: Manifest, state: Mapping[str, Any]) -> str:
    """The reason that the kubelet or the scheduler gives, else what the container does."""
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return str(scheduled.get("reason") or "Pending")
    for name in ("waiting", "terminated"):
        if said := state.get(name):
            code = f" (exit code {said['exitCode']})" if "exitCode" in said else ""
            return f"{said.get('reason') or name}{code}"
    return "running" if "running" in state else str((pod.get("status") or {}).get("phase", "Pending"))
