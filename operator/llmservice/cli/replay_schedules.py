"""`--schedules FILE` and `--begins TIME` of `llmservice replay`: the bounds of a resource, hour by hour."""

from datetime import UTC, datetime
from pathlib import Path

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.autoscaling.schedules import Timetable
from llmservice.cli.findings import Finding
from llmservice.cli.reading import read_file
from llmservice.errors import InvalidInput, UsageError
from llmservice.planning.schedules import choose_schedules


def read_timetable(path: Path) -> Timetable:
    """Bounds and schedules of the first resource in a file that has schedules; raises InvalidInput where none has.

    Sleep is not played: a resource with minReplicas 0 is as one with 1.
    """
    documents = read_file(str(path))
    if isinstance(documents, Finding):
        raise InvalidInput("Unreadable", documents.message)
    for document in documents:
        body = document.value
        if isinstance(body, dict) and body.get("kind") == "LLMService":
            scaling = LLMService.parse(body).spec.autoscaling
            if scaling is not None and scaling.schedules:
                schedules = choose_schedules(scaling.schedules)
                return Timetable(
                    minimum=max(1, scaling.min_replicas), maximum=scaling.max_replicas, schedules=schedules
                )
    raise InvalidInput("NoSchedules", f"{path} has no LLMService with spec.autoscaling.schedules: name one that has")


def moment_of(begins: str) -> float:
    """The first moment of the load in seconds since 1970; without an offset it is UTC. Raises UsageError."""
    try:
        moment = datetime.fromisoformat(begins)
    except ValueError:
        example = "2026-03-29T00:00+01:00"
        raise UsageError("NotATime", f"--begins {begins}: write a date and a time, such as {example}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
