"""What a pass cannot get past: raised where it is met, reported in the status where the pass ends."""

from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.progress import Progress
from llmservice.converging.status import stalled
from llmservice.converging.weights import Waiting
from llmservice.objects.references import Manifest

BLOCKED_AGAIN_SECONDS = 20.0
"""Between two tries of what somebody else may have made possible."""


class Blocked(Exception):
    """The resource cannot be reconciled now: its replicas stay as they are, and the status says why.

    `reason` is a `Reason`, `again_seconds` the pause until the next pass; None where only a watch event can help. A
    cause that `passes` by itself is Reconciling instead of Stalled. `weights` is what the resource waits for, where it
    waits for its model's files.
    """

    def __init__(
        self,
        reason: str,
        message: str,
        again_seconds: float | None = None,
        *,
        passes: bool = False,
        weights: Waiting | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.again_seconds = again_seconds
        self.passes = passes
        self.weights = weights


def status_while(blocked: Blocked, body: Manifest, progress: Progress | None, now: datetime) -> dict[str, Any]:
    """The status of a resource that is blocked; without `progress` nothing is known of its pods."""
    return stalled(
        body.get("status") or {},
        int(body["metadata"].get("generation", 0)),
        Reason(blocked.reason),
        blocked.message.replace("\n", "; "),
        now,
        progress=progress,
        passes=blocked.passes,
        weights=blocked.weights,
    )
