"""Whether an engine that hangs is restarted now: one of a service in ten minutes, and only while the others serve."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.converging.spans import span

RESTART_EVERY_SECONDS = 600.0
GRACE_SECONDS = 30
"""A hung engine finishes nothing: its requests are lost, and waiting for them as in a drain would only take longer."""


_UNASKED = "it is not restarted, because it refused a request for one token: see its log, and delete it if it hangs"
NOT_ALLOWED = "it is not restarted, because the operator may not evict it: delete the pod"
NOT_NOW = "it is restarted as soon as the API server and the disruption budget allow it"
_OTHERS = "it is restarted as soon as the other replicas are ready"
_LATER = f"it is restarted later, because one was in the last {RESTART_EVERY_SECONDS / 60:.0f} minutes"
RESTARTED = f"it is restarted, 1 of at most 1 in {RESTART_EVERY_SECONDS / 60:.0f} minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """An engine that hangs, as it was found: `running` requests, and no token for so many `seconds`.

    `silent`: asked for one token, it has not answered. Otherwise it could not be asked, and the metrics alone say so.
    """

    pod: str
    uid: str
    running: int
    seconds: float
    silent: bool


def last_restart(pods: Sequence[ScaledPod], before: float) -> float | None:
    """When somebody who led until `before` restarted a replica at the latest; seconds since 1970.

    What is evicted is replaced at once, so the youngest pod of that time tells, and nothing need be stored. None where
    there is none.
    """
    created = (datetime.fromisoformat(pod.created_at).timestamp() for pod in pods if pod.created_at)
    return max((at for at in created if at <= before), default=None)


def obstacle(stall: Stall, pods: Sequence[ScaledPod], last_at: float | None, now: float, *, allowed: bool) -> str:
    """Why the engine is not restarted now, as a part of a sentence; empty when it may be.

    `pods` are those of its service, `last_at` is when one of them was restarted last, `allowed` whether the operator
    may evict pods, as far as it knows.
    """
    if not stall.silent:
        return _UNASKED
    if not allowed:
        return NOT_ALLOWED
    if any(pod.phase is not PodPhase.READY for pod in pods if pod.uid != stall.uid):
        return _OTHERS
    return _LATER if last_at is not None and now - last_at < RESTART_EVERY_SECONDS else ""


def stalled_message(stall: Stall, outcome: str) -> str:
    """What is said of a stall; `outcome` is what becomes of it."""
    requests = f"{stall.running} running request{'s' if stall.running != 1 else ''}"
    asked = ", and none for a request of the operator" if stall.silent else ""
    return f"{stall.pod}: {requests}, no token for {span(stall.seconds)}{asked}; {outcome}"


def stalled_condition(stall: Stall, outcome: str) -> Condition:
    """EngineProgressing while an engine hangs."""
    return Condition(
        type=ConditionType.ENGINE_PROGRESSING,
        status=False,
        reason=Reason.ENGINE_STALLED,
        message=stalled_message(stall, outcome),
    )
