"""Waits for the Deployment controller after a write that only notes something on the Deployment.

An annotation makes a new generation too (k8s.io/kubernetes, pkg/registry/apps/deployment, `PrepareForUpdate`), of which
the controller has nothing to say for a moment. A status that was true stays as it is for that moment: to say Ready anew
would promise what nobody has confirmed, and to say Progressing would tell of a change that is none.
"""

from dataclasses import dataclass, field
from datetime import datetime

from llmservice.api.v1alpha1.conditions import ConditionType
from llmservice.converging.conditions import condition_in
from llmservice.converging.progress import progress_of
from llmservice.objects.references import Manifest, uid_of

_LONGEST_SECONDS = 10.0
"""A controller that says nothing for so long is a reason to tell."""
_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Noting:
    """Remembers, by UID of the resource, which generation of its Deployment was only noted on, and when."""

    _noted: dict[str, tuple[int, datetime]] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._noted.pop(uid, None)

    def pause(self, body: Manifest, before: Manifest | None, after: Manifest | None, now: datetime) -> float | None:
        """Seconds for which the status is to stay as it is; None where it is to be written.

        `body` is the resource, `before` and `after` are its Deployment as it was found and as it is now.
        """
        uid = uid_of(body)
        if after is None or progress_of(after, ()).seen or not _is_told_ready(body):
            self.forget(uid)
            return None
        generation = int(after["metadata"].get("generation", 0))
        if _is_only_noted(before, after):
            self._noted[uid] = generation, now
        noted, at = self._noted.get(uid, (-1, now))
        return _AGAIN_SECONDS if noted == generation and (now - at).total_seconds() < _LONGEST_SECONDS else None


def _is_told_ready(body: Manifest) -> bool:
    """Whether the status says of this very generation that it is ready."""
    status = body.get("status") or {}
    is_current = status.get("observedGeneration") == body["metadata"].get("generation")
    return is_current and condition_in(status, ConditionType.READY).get("status") == "True"


def _is_only_noted(before: Manifest | None, after: Manifest) -> bool:
    """Whether the Deployment was seen by its controller, and then written with the same spec."""
    if before is None or uid_of(before) != uid_of(after) or not progress_of(before, ()).seen:
        return False
    changed = before["metadata"].get("generation") != after["metadata"].get("generation")
    return changed and bool(before["spec"] == after["spec"])
