"""Accessors of a pod's status."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.objects.groups import is_worker, of_current_groups, pods_of_groups
from llmservice.objects.names import CONTAINER_NAME, REVISION_ANNOTATION
from llmservice.objects.references import Manifest, controller_uid, is_being_deleted, uid_of
from llmservice.objects.workloads import GROUPS

_ENDED = frozenset({"Failed", "Succeeded"})


def condition(manifest: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The condition of this type; empty when there is none."""
    conditions = manifest.get("status", {}).get("conditions") or ()
    return next((item for item in conditions if item.get("type") == kind), {})


def pods_of(
    workload: Manifest | None, replica_sets: Iterable[Manifest], pods: Iterable[Manifest]
) -> tuple[Manifest, ...]:
    """The pods of a workload: of a Deployment by the owner UIDs from pod to ReplicaSet to Deployment.

    Labels and names prove nothing: whoever creates a pod may write both. Only a ReplicaSet that is in the cache counts.
    Of groups all pods (`groups.py`).
    """
    if workload is None:
        return ()
    if workload["kind"] == GROUPS:
        return pods_of_groups(workload, pods)
    made = {uid_of(one) for one in replica_sets if controller_uid(one) == uid_of(workload)}
    return tuple(pod for pod in pods if controller_uid(pod) in made)


def replicas_among(pods: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Those that answer clients, one for each replica: all but the workers of groups."""
    return tuple(pod for pod in pods if not is_worker(pod))


def of_current_template(
    workload: Manifest | None, replica_sets: Iterable[Manifest], pods: Iterable[Manifest]
) -> tuple[Manifest, ...]:
    """Those of a workload's pods that its current template made: their ReplicaSet has the revision of the Deployment.

    Of a Deployment whose new template its controller has not seen yet they are those of the template before.
    """
    if workload is None:
        return ()
    if workload["kind"] == GROUPS:
        return of_current_groups(workload, pods)
    current = {uid_of(one) for one in replica_sets if _revision(one) == _revision(workload)}
    return tuple(pod for pod in pods if controller_uid(pod) in current)


def _revision(manifest: Manifest) -> str:
    return str((manifest["metadata"].get("annotations") or {}).get(REVISION_ANNOTATION, ""))


def is_ready(pod: Manifest) -> bool:
    """Whether a pod is ready and not being deleted."""
    return condition(pod, "Ready").get("status") == "True" and not is_being_deleted(pod)


def has_ended(pod: Manifest) -> bool:
    """Whether the pod has terminated for good (phase Failed or Succeeded); the object may remain."""
    return (pod.get("status") or {}).get("phase") in _ENDED


def stays_on(pod: Manifest) -> bool:
    """Whether a terminated pod is not being deleted: it remains until the pod garbage collector's threshold is met."""
    return has_ended(pod) and not is_being_deleted(pod)


def is_living(pod: Manifest) -> bool:
    """Whether the pod runs or is about to, and is not being deleted."""
    return not is_being_deleted(pod) and not has_ended(pod)


def is_placed(pod: Manifest) -> bool:
    """Whether the pod is bound to a node."""
    return bool((pod.get("spec") or {}).get("nodeName"))


def has_served(pod: Manifest) -> bool:
    """Whether a pod that is not ready now was ready in the current run of its engine.

    `Ready` last changed when the pod became unready. Of a pod that was never ready, or whose engine was restarted, this
    lies before the start of the engine. The same second counts as before: no engine is ready within one.
    """
    running = running_of(engine_of(pod))
    since = str(condition(pod, "Ready").get("lastTransitionTime") or "")
    return running is not None and since > str(running.get("startedAt") or "")


def newest_first(pods: Iterable[Manifest]) -> list[Manifest]:
    """Sorted by creation time, then by name."""
    return sorted(pods, key=lambda pod: (created_at(pod), pod["metadata"]["name"]), reverse=True)


def created_at(pod: Manifest) -> str:
    """The creation time as RFC 3339; empty when it has none."""
    return str(pod["metadata"].get("creationTimestamp") or "")


def engine_of(pod: Manifest) -> Mapping[str, Any]:
    """The container status of the engine; empty until there is one. Sidecars may stand beside it."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return next((item for item in statuses if item.get("name") == CONTAINER_NAME), {})


def sidecars_of(pod: Manifest) -> list[Mapping[str, Any]]:
    """The statuses of containers that were injected into the pod, init containers first."""
    status = pod.get("status") or {}
    beside = [item for item in status.get("containerStatuses") or () if item.get("name") != CONTAINER_NAME]
    return [*(status.get("initContainerStatuses") or ()), *beside]


def waiting_of(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """The waiting state of a container; empty when it is not waiting."""
    return (container.get("state") or {}).get("waiting") or {}


def running_of(container: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The running state of a container; None when it is not running."""
    running: Mapping[str, Any] | None = (container.get("state") or {}).get("running")
    return running


def has_started(container: Mapping[str, Any]) -> bool:
    """Whether a container is running and its startup probe has succeeded in this run."""
    return running_of(container) is not None and bool(container.get("started"))


def last_end_of(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last termination of a container, now or before the current run; empty when there was none."""
    now = (container.get("state") or {}).get("terminated")
    return now or (container.get("lastState") or {}).get("terminated") or {}
