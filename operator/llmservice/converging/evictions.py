"""Why a node ended or refuses pods: its disk, its memory, its devices.

The words are those of Kubernetes 1.34: pkg/kubelet/eviction/{helpers,eviction_manager}.go for evictions,
pkg/kubelet/cm/devicemanager/manager.go for devices, the taints of node pressure for the scheduler.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.redaction import LONGEST_TEXT
from llmservice.untrusted.patterns import Pattern, compiled


@dataclass(frozen=True, slots=True)
class Pressure:
    """What a text of the kubelet or the scheduler names, and what to do."""

    cause: str
    reason: Reason
    pattern: Pattern
    remedy: str


_DISK = (
    Pressure(
        "the disks of the nodes are full",
        Reason.DISK_FULL,
        compiled(r"node\.kubernetes\.io/disk-pressure|had condition: \[DiskPressure\]"),
        "free space on the nodes (images, logs), or add a node with a larger disk",
    ),
    Pressure(
        "the node's disk is too small for the image",
        Reason.DISK_FULL,
        compiled(r"no space left on device"),
        "free space on the node, or use nodes with a larger disk",
    ),
)

EVICTIONS = (
    Pressure(
        "the pod wrote more than it may",
        Reason.DISK_FULL,
        compiled(
            r"[Ee]phemeral local storage usage exceeds|exceeded its local ephemeral storage limit"
            r"|Usage of EmptyDir volume \S+ exceeds the limit"
        ),
        "raise spec.pod.resources.limits.ephemeral-storage and requests.ephemeral-storage, or keep the model on a "
        "claim (pvc://)",
    ),
    Pressure(
        "the node's disk filled up",
        Reason.DISK_FULL,
        compiled(r"low on resource: (ephemeral-storage|inodes)"),
        "set spec.pod.resources.requests.ephemeral-storage to what the model takes, or keep it on a claim (pvc://)",
    ),
    *_DISK,
    Pressure(
        "the node's memory ran out",
        Reason.OUT_OF_MEMORY,
        compiled(r"low on resource: memory|had condition: \[MemoryPressure\]"),
        "set spec.pod.resources.requests.memory to what the engine needs",
    ),
    Pressure(
        "the node ran out of process ids",
        Reason.PROCESS_LIMIT_REACHED,
        compiled(r"low on resource: pids|had condition: \[PIDPressure\]"),
        "start fewer threads (OMP_NUM_THREADS in spec.engineOptions.env), or raise the node's limit",
    ),
    Pressure(
        "a device of the node is faulty",
        Reason.GPU_FAULTY,
        compiled(r"cannot allocate unhealthy devices|no healthy devices present"),
        "drain the node and have the device reset or replaced",
    ),
)
"""Why the kubelet evicted or rejected a pod, the most specific first."""


def disk_full(text: str) -> Diagnosis | None:
    """That a pod cannot be placed, or its image not be pulled, for want of disk; None when the text is not of that."""
    return _named(_DISK, text)


def eviction_cause(text: str) -> Diagnosis | None:
    """Why the kubelet ended a pod, by the message of its status; None when it names nothing that can be changed."""
    return _named(EVICTIONS, text)


def _named(pressures: Sequence[Pressure], text: str) -> Diagnosis | None:
    for pressure in pressures:
        if match := pressure.pattern.first(text[:LONGEST_TEXT]):
            message = f"{pressure.cause}: {sentence(match.line())}; {pressure.remedy}"
            return Diagnosis(reason=pressure.reason, message=message, self_healing=True)
    return None
