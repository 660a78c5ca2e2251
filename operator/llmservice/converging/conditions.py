"""Conditions as metav1.Condition: lastTransitionTime changes only when the status does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.redaction import redacted

_LONGEST = 1024
_STATUS = {True: "True", False: "False", None: "Unknown"}
_OWN_TYPES = frozenset(map(str, ConditionType))


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition without its times. `message` is one sentence that ends with the remedy.

    `status` is None for Unknown.
    """

    type: ConditionType
    status: bool | None
    reason: Reason
    message: str


def conditions_to_write(
    conditions: Iterable[Condition], before: Iterable[Mapping[str, Any]], generation: int, now: datetime
) -> list[dict[str, Any]]:
    """The conditions for the status, each with the time at which its status last changed."""
    known = {item["type"]: item for item in before}
    return [_to_write(condition, known.get(condition.type, {}), generation, now) for condition in conditions]


def condition_in(status: Mapping[str, Any], kind: ConditionType) -> Mapping[str, Any]:
    """The condition of this type in a status; empty when it has none."""
    return next((item for item in status.get("conditions") or () if item.get("type") == kind), {})


def own_part(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """The status without condition types that are not ours: other controllers may add their own."""
    conditions = status.get("conditions") or ()
    ours = [item for item in conditions if item.get("type") in _OWN_TYPES]
    return status if len(ours) == len(conditions) else {**status, "conditions": ours}


def _to_write(condition: Condition, before: Mapping[str, Any], generation: int, now: datetime) -> dict[str, Any]:
    status = _STATUS[condition.status]
    unchanged = before.get("status") == status and "lastTransitionTime" in before
    return {
        "type": str(condition.type),
        "status": status,
        "reason": str(condition.reason),
        "message": redacted(condition.message)[:_LONGEST],
        "observedGeneration": generation,
        "lastTransitionTime": before["lastTransitionTime"] if unchanged else timestamp(now),
    }


def timestamp(now: datetime) -> str:
    """RFC 3339 in whole seconds, as metav1.Time writes it. `now` is in UTC."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
