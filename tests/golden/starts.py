"""What is said while replicas start, and when one has."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from llmservice.converging.progress import Progress, waiting_for
from llmservice.converging.startup_budget import how_to_wait, overdue
from llmservice.converging.startup_events import startup_event
from llmservice.objects.references import Manifest
from tests.unit.converging.plans import a_plan, of_an_earlier_operator
from tests.unit.converging.starting import at, starting

_RESOURCE: Manifest = {
    "apiVersion": "llmservice.dev/v1alpha1",
    "kind": "LLMService",
    "metadata": {"name": "chat", "namespace": "ml", "uid": "u-1"},
}
_LAST: dict[str, Any] = {
    "pod": "chat-6c9f-x2x7q",
    "scheduledSeconds": 2,
    "volumesSeconds": 1,
    "imageSeconds": 48,
    "downloadSeconds": 0,
    "loadSeconds": 63,
    "compileSeconds": 4,
    "warmUpSeconds": 9,
    "totalSeconds": 127,
}


def sentences() -> Iterator[str]:
    """Events of a rollout, and the ends of Ready's message."""
    for step in ("Starting", "Loading", "Started"):
        for last in ({}, {"last": _LAST}):
            after = {"current": {"pod": "chat-6c9f-x2x7q"}, **last, "announcedRevision": "chat-6c9f", "announced": step}
            if last or step != "Started":
                event = startup_event(_RESOURCE, {}, {"startup": after}, _moment(0)) or {}
                yield f"{event['reason']}: {event['message']}"
    progress = Progress(desired=1, total=1, updated=1, seen=True)
    for pod in (starting(), starting(started=0)):
        for status in ({}, {"startup": {"last": _LAST}}):
            for seconds, plan in ((10, a_plan()), (599, a_plan()), (599, of_an_earlier_operator(a_plan()))):
                then = how_to_wait(plan, [pod], status, _moment(seconds))
                reason, message = waiting_for(progress, [pod], then)
                yield f"{reason}: {message}"
    if late := overdue(a_plan(), [starting(started=0)], _moment(600)):
        yield f"{late.reason}: {late.message}"


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(at(seconds), UTC)
