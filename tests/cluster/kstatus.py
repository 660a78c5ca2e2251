"""kstatus: is an object as its spec asks? Read as Flux, Helm and `kubectl wait` read it, from the object alone.

Rules: github.com/kubernetes-sigs/cli-utils, pkg/kstatus/status (generic.go, core.go), for a kind it does not know.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class KStatus(StrEnum):
    """What kstatus says of an object that exists."""

    IN_PROGRESS = "InProgress"
    CURRENT = "Current"
    FAILED = "Failed"
    TERMINATING = "Terminating"


_BY_CONDITION = {
    ("Reconciling", "True"): KStatus.IN_PROGRESS,
    ("Stalled", "True"): KStatus.FAILED,
}


def kstatus(body: Mapping[str, Any]) -> KStatus:
    """The first rule that applies.

    | rule                                          | status      |
    |-----------------------------------------------|-------------|
    | it is being deleted                           | Terminating |
    | status.observedGeneration is another          | InProgress  |
    | the first of: Reconciling True / Stalled True | InProgress / Failed |
    | Ready is there and not True                   | InProgress  |
    | otherwise, also without any status            | Current     |
    """
    metadata, status = body["metadata"], body.get("status") or {}
    if metadata.get("deletionTimestamp"):
        return KStatus.TERMINATING
    if "generation" in metadata and status.get("observedGeneration", metadata["generation"]) != metadata["generation"]:
        return KStatus.IN_PROGRESS
    conditions = [(item["type"], item["status"]) for item in status.get("conditions") or ()]
    if decisive := next((_BY_CONDITION[item] for item in conditions if item in _BY_CONDITION), None):
        return decisive
    ready = dict(conditions).get("Ready", "True")
    return KStatus.CURRENT if ready == "True" else KStatus.IN_PROGRESS
