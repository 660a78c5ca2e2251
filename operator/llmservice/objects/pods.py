"""What a pod says of itself, read where Kubernetes writes it."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest, controller_uid, is_being_deleted, uid_of

_ENDED = frozenset({"Failed", "Succeeded"})


def condition(manifest: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of this type; empty when there is none."""
    conditions = manifest.get("status", {}).get("conditions") or ()
    return next((item for item in conditions if item.get("type") == kind), {})


def pods_of(
    deployment: Manifest | None, replica_sets: Iterable[Manifest], pods: Iterable[Manifest]
) -> tuple[Manifest, ...]:
    """The pods that this very Deployment made, by way of its ReplicaSets: each is told by UID and must be known.

    Neither a label nor a name says so: whoever makes a pod may write both, and an owner reference too.
    """
    if deployment is None:
        return ()
    made = {uid_of(one) for one in replica_sets if controller_uid(one) == uid_of(deployment)}
    return tuple(pod for pod in pods if controller_uid(pod) in made)


def is_ready(pod: Manifest) -> bool:
    """Whether a pod is ready and not on its way out."""
    return condition(pod, "Ready").get("status") == "True" and not is_being_deleted(pod)


def has_ended(pod: Manifest) -> bool:
    """Whether nothing of it runs any more and nothing will: evicted, refused by its node. The object may stay on."""
    return (pod.get("status") or {}).get("phase") in _ENDED


def stays_on(pod: Manifest) -> bool:
    """Whether it has ended and nothing deletes it: it waits for the garbage collector of a full cluster."""
    return has_ended(pod) and not is_being_deleted(pod)


def is_living(pod: Manifest) -> bool:
    """Whether it runs or will, and is not on its way out."""
    return not is_being_deleted(pod) and not has_ended(pod)


def is_placed(pod: Manifest) -> bool:
    """Whether a node was found for it."""
    return bool((pod.get("spec") or {}).get("nodeName"))


def has_served(pod: Manifest) -> bool:
    """Whether a pod that is not ready was, with the engine that runs in it now.

    It stopped being ready when `Ready` changed last. A pod that never was has been so since before its engine was
    started, and so has one whose engine ended and was started again. The same second counts as before: no engine is
    ready within one.
    """
    running = running_of(engine_of(pod))
    since = str(condition(pod, "Ready").get("lastTransitionTime") or "")
    return running is not None and since > str(running.get("startedAt") or "")


def newest_first(pods: Iterable[Manifest]) -> list[Manifest]:
    """By when they were made, and by name within a second."""
    return sorted(pods, key=lambda pod: (created_at(pod), pod["metadata"]["name"]), reverse=True)


def created_at(pod: Manifest) -> str:
    """Kubernetes' time as text."""
    return str(pod["metadata"].get("creationTimestamp") or "")


def engine_of(pod: Manifest) -> Mapping[str, Any]:
    """The status of the engine's container; empty until there is one. Others may have been put beside it."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return next((item for item in statuses if item.get("name") == CONTAINER_NAME), {})


def sidecars_of(pod: Manifest) -> list[Mapping[str, Any]]:
    """The statuses of containers that something else put into the pod, those that run before the engine first."""
    status = pod.get("status") or {}
    beside = [item for item in status.get("containerStatuses") or () if item.get("name") != CONTAINER_NAME]
    return [*(status.get("initContainerStatuses") or ()), *beside]


def waiting_of(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Why a container waits; empty when it does not."""
    return (container.get("state") or {}).get("waiting") or {}


def running_of(container: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Since when a container runs; None when it does not."""
    running: Mapping[str, Any] | None = (container.get("state") or {}).get("running")
    return running


def has_started(container: Mapping[str, Any]) -> bool:
    """Whether a container runs and has answered its startup probe in this run."""
    return running_of(container) is not None and bool(container.get("started"))


def last_end_of(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """How a container ended last: now, or before the present run; empty when it never did."""
    now = (container.get("state") or {}).get("terminated")
    return now or (container.get("lastState") or {}).get("terminated") or {}
