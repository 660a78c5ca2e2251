"""Events of a start: Starting, Loading and Started, each once for a rollout, of the one replica that is followed.

So neither the other replicas of a rollout, nor those that an autoscaler adds, nor a new pod in place of a lost one tell
the same again.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.events import event
from llmservice.converging.spans import span
from llmservice.converging.startup_phases import expected_start_seconds
from llmservice.converging.startup_status import part
from llmservice.objects.references import Manifest
from llmservice.objects.starts import phases_in

Status = Mapping[str, Any]

_REASONS = {"Starting": Reason.STARTING, "Loading": Reason.LOADING, "Started": Reason.STARTED}


def startup_event(resource: Manifest, before: Status, after: Status, now: datetime) -> Manifest | None:
    """The Event for what the newer status tells of a rollout; None where the older one did already."""
    step = str(part(after).get("announced", ""))
    if step not in _REASONS or _told(before) == _told(after):
        return None
    message = started(part(after, "last")) if step == "Started" else _began(step, after)
    return event(resource, kind="Normal", reason=_REASONS[step], message=message, now=now)


def ended_start(before: Status, after: Status) -> dict[str, int]:
    """Seconds by phase, and in `total`, of a start that only the newer status tells; empty where there is none."""
    last = part(after, "last")
    if not last or last == part(before, "last"):
        return {}
    phases = phases_in(last)
    return {**phases, "total": sum(phases.values())}


def started(start: Status) -> str:
    """A start that ended, in a sentence."""
    phases = phases_in(start)
    told = ", ".join(f"{phase} {span(seconds)}" for phase, seconds in phases.items())
    return f"{start.get('pod')} was ready after {span(sum(phases.values()))}: {told}"


def last_start(status: Status) -> str:
    """How long the last start took, as the end of a sentence; empty where that is not known."""
    seconds = expected_start_seconds(status)
    return "" if seconds is None else f"; the last start took {span(seconds)}"


def _began(step: str, status: Status) -> str:
    does = "the engine is loading the model" if step == "Loading" else "the pod is starting (image, volumes)"
    return f"{part(status, 'current').get('pod')}: {does}{last_start(status)}"


def _told(status: Status) -> tuple[object, object]:
    return part(status).get("announcedRevision"), part(status).get("announced")
