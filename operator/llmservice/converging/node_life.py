"""Replicas that start are not to be disturbed: a node that is emptied to save money costs a whole start.

Karpenter and the cluster autoscaler leave a node alone while one of its pods asks for it by an annotation. In the pod
template it would hold for ever, so it is written to the pods themselves and taken away when they are ready. Neither
stops a reclaimed spot node, a drain by hand or an eviction by the kubelet.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from llmservice.objects.groups import group_of
from llmservice.objects.names import KEEPS_NODE, STARTING_ANNOTATION
from llmservice.objects.pods import created_at, engine_of, has_served, is_living, is_placed, is_ready, waiting_of
from llmservice.objects.references import Manifest

SHIELD: Mapping[str, str] = {**KEEPS_NODE, STARTING_ANNOTATION: "true"}
"""What a pod that starts is annotated with."""

_USUAL_WAITS = frozenset({"", "ContainerCreating", "PodInitializing"})


def shields(
    pods: Iterable[Manifest],
    annotated: Mapping[str, str],
    longest_seconds: float,
    now: datetime,
    workers: Iterable[Manifest] = (),
) -> Iterator[tuple[Manifest, bool]]:
    """The pods to annotate (True), and those from which the annotations are to be taken (False).

    Nothing where the user decides: `annotated` are the annotations that the resource gives its pods. A pod that starts
    for longer than `longest_seconds`, or failed to start, holds no node. A group's `workers` start with its leader.
    """
    if KEEPS_NODE.keys() & annotated.keys():
        return
    groups = set[str]()
    for pod in filter(is_living, pods):
        starts = _starts(pod, longest_seconds, now)
        groups |= {group_of(pod)} if starts else set()
        if _is_shielded(pod) is not starts:
            yield pod, starts
    for worker in filter(is_living, workers):
        starts = is_placed(worker) and group_of(worker) in groups
        if _is_shielded(worker) is not starts:
            yield worker, starts


def _is_shielded(pod: Manifest) -> bool:
    return STARTING_ANNOTATION in (pod["metadata"].get("annotations") or {})


def _starts(pod: Manifest, longest_seconds: float, now: datetime) -> bool:
    """Whether its first start is under way on a node."""
    engine = engine_of(pod)
    if not is_placed(pod) or is_ready(pod) or has_served(pod) or engine.get("restartCount"):
        return False
    began = created_at(pod)
    young = bool(began) and (now - datetime.fromisoformat(began)).total_seconds() < longest_seconds
    return young and waiting_of(engine).get("reason", "") in _USUAL_WAITS
