"""Kubernetes Events: one for each transition of Ready, with the reason and message of the condition."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import condition_in, timestamp
from llmservice.objects.references import Manifest

ROUTINE = frozenset(
    {
        Reason.INSPECTING,
        Reason.DOWNLOADING,
        Reason.PROGRESSING,
        Reason.STARTING,
        Reason.PULLING,
        Reason.LOADING,
    }
)
"""Steps of every normal start: visible in the conditions, not worth an Event."""
_WARNINGS = frozenset({Reason.ROLLED_BACK})
"""Of replicas that serve, and yet not what was asked for."""


def transition_event(
    resource: Manifest, before: Mapping[str, Any], after: Mapping[str, Any], now: datetime
) -> Manifest | None:
    """The event for a change of Ready's status or reason; None when neither changed or the step is routine."""
    was, now_is = (condition_in(status, ConditionType.READY) for status in (before, after))
    same = (was.get("status"), was.get("reason")) == (now_is.get("status"), now_is.get("reason"))
    if same or not now_is or now_is["reason"] in ROUTINE:
        return None
    is_well = now_is["status"] == "True" and now_is["reason"] not in _WARNINGS
    kind = "Normal" if is_well else "Warning"
    return event(resource, kind=kind, reason=now_is["reason"], message=now_is["message"], now=now)


def event(resource: Manifest, *, kind: str, reason: str, message: str, now: datetime) -> Manifest:
    """A core/v1 Event about the resource. `kind` is Normal or Warning."""
    metadata = resource["metadata"]
    moment = timestamp(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{int(now.timestamp() * 1_000_000):x}",
            "namespace": metadata["namespace"],
        },
        "involvedObject": {
            "apiVersion": resource["apiVersion"],
            "kind": resource["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata.get("resourceVersion", ""),
        },
        "type": kind,
        "reason": reason,
        "message": message[:1024],
        "count": 1,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": "llmservice-operator"},
        "reportingComponent": "llmservice-operator",
        "reportingInstance": "llmservice-operator",
    }
