"""A start as `status.startup.current` and `last` tell of it: the seconds of each phase in a field of its own."""

from collections.abc import Mapping
from typing import Any

PHASE_FIELDS: Mapping[str, str] = {
    "scheduled": "scheduledSeconds",
    "volumes": "volumesSeconds",
    "image": "imageSeconds",
    "download": "downloadSeconds",
    "load": "loadSeconds",
    "compile": "compileSeconds",
    "warm-up": "warmUpSeconds",
}
"""Phase → field of the status, in the order in which they follow each other."""


def phases_in(start: Mapping[str, Any]) -> dict[str, int]:
    """The seconds of each phase that is told, by its name."""
    told = {phase: start.get(field) for phase, field in PHASE_FIELDS.items()}
    return {phase: seconds for phase, seconds in told.items() if isinstance(seconds, int)}
