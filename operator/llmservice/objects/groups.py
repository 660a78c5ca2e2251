"""Groups of pods, one group a replica: which pods are of one, and which of them answers.

The names are those of the controller of LeaderWorkerSets (sigs.k8s.io/lws v0.9.0, api/leaderworkerset/v1).
"""

from collections.abc import Iterable
from typing import Any

from llmservice.objects.names import TEMPLATE_ANNOTATION
from llmservice.objects.references import Manifest, controller_of
from llmservice.objects.workloads import answering_template

SET_LABEL = "leaderworkerset.sigs.k8s.io/name"
GROUP_LABEL = "leaderworkerset.sigs.k8s.io/group-index"
WORKER_LABEL = "leaderworkerset.sigs.k8s.io/worker-index"
GROUP_LABELS = (SET_LABEL, GROUP_LABEL, WORKER_LABEL)
LEADER = "0"
"""The index of the pod of a group that answers clients."""


def is_of_group(pod: Manifest) -> bool:
    """Whether a pod is of any group, by what its controller writes."""
    return SET_LABEL in _labels(pod) and controller_of(pod).get("kind") == "StatefulSet"


def is_worker(pod: Manifest) -> bool:
    """Whether it is a pod of a group that answers no client."""
    return is_of_group(pod) and _labels(pod).get(WORKER_LABEL) != LEADER


def group_of(pod: Manifest) -> str:
    """The number of its group; empty for a pod that is of none."""
    return str(_labels(pod).get(GROUP_LABEL, "")) if is_of_group(pod) else ""


def pods_of_groups(workload: Manifest, pods: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The pods of a LeaderWorkerSet, by its name and by that of the StatefulSet that made them.

    A group's first pod is of the StatefulSet with the set's own name, the others are of that with the first pod's. To
    prove it by UIDs would take the right to read every StatefulSet; a copy of a pod for debugging has no controller.
    """
    return tuple(pod for pod in pods if _is_member(workload["metadata"]["name"], pod))


def of_current_groups(workload: Manifest, pods: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Those of a set's pods that its current template made: they bear its digest."""
    current = _digest(answering_template(workload))
    return tuple(pod for pod in pods_of_groups(workload, pods) if current and _digest(pod) == current)


def place_in_group(pod: Manifest) -> str:
    """Which pod of which group it is, for a sentence; empty for a pod that is of none."""
    if not is_of_group(pod):
        return ""
    labels, name = _labels(pod), pod["metadata"]["name"]
    group, number = labels.get(GROUP_LABEL, "?"), labels.get(WORKER_LABEL, "?")
    return f"{'the leader' if number == LEADER else f'worker {number}'} of group {group} ({name})"


def _is_member(name: str, pod: Manifest) -> bool:
    labels = _labels(pod)
    if not is_of_group(pod) or labels.get(SET_LABEL) != name:
        return False
    made_by = name if labels.get(WORKER_LABEL) == LEADER else f"{name}-{labels.get(GROUP_LABEL)}"
    return controller_of(pod).get("name") == made_by


def _labels(pod: Manifest) -> dict[str, Any]:
    return pod["metadata"].get("labels") or {}


def _digest(manifest: Any) -> str:
    return str((manifest["metadata"].get("annotations") or {}).get(TEMPLATE_ANNOTATION, ""))
