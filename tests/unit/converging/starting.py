"""Pods on their way from created to ready; times are seconds after the first of January 2026."""

from datetime import UTC, datetime, timedelta
from typing import Any

from llmservice.objects.references import Manifest

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def text(seconds: float) -> str:
    """As Kubernetes writes it."""
    return f"{_BEGIN + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def at(seconds: float) -> float:
    """In seconds since 1970."""
    return (_BEGIN + timedelta(seconds=seconds)).timestamp()


def condition(kind: str, status: str, since: float) -> dict[str, str]:
    """A condition of a pod."""
    return {"type": kind, "status": status, "lastTransitionTime": text(since)}


def starting(
    *more: dict[str, str],
    name: str = "chat-1",
    revision: str = "chat-a",
    created: float = 0,
    scheduled: float | None = None,
    prepared: float | None = None,
    started: float | None = None,
    restarts: int = 0,
) -> Manifest:
    """A pod that is not ready yet, so far as the times say."""
    conditions = [*more]
    if scheduled is not None:
        conditions.append(condition("PodScheduled", "True", scheduled))
        conditions.append(condition("Ready", "False", scheduled))
    if prepared is not None:
        conditions.append(condition("PodReadyToStartContainers", "True", prepared))
    state = {"running": {"startedAt": text(started)}} if started is not None else {"waiting": {}}
    engine = {"name": "engine", "state": state, "started": False, "ready": False, "restartCount": restarts}
    owner = {"kind": "ReplicaSet", "name": revision, "uid": f"uid-{revision}", "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "creationTimestamp": text(created),
            "labels": {"llmservice.dev/name": "chat"},
            "ownerReferences": [owner],
        },
        "spec": {"containers": [{"name": "engine", "image": "engine"}]},
        "status": {"phase": "Pending", "conditions": conditions, "containerStatuses": [engine]},
    }


def ready_after(seconds: float, **times: Any) -> Manifest:
    """A pod that was ready so many seconds after the beginning."""
    pod = starting(**{"scheduled": 0, "started": 0, **times})
    pod["status"]["conditions"] = [
        *(each for each in pod["status"]["conditions"] if each["type"] != "Ready"),
        condition("Ready", "True", seconds),
    ]
    pod["status"]["containerStatuses"][0] |= {"started": True, "ready": True}
    return pod
