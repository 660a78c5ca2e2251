"""`status.autoscaling.idle`: since when a service sleeps, or when it will; and back, after a restart."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from llmservice.autoscaling.idling import Idleness
from llmservice.converging.conditions import timestamp

_SHOWN_AFTER_SECONDS = 60.0
"""A service that is asked something every few seconds is quiet in between: that is not told."""


def idle_status(
    idleness: Idleness,
    after_seconds: float,
    start_seconds: float | None,
    held: int,
    now: float,
    *,
    may_rest: bool = True,
) -> dict[str, Any]:
    """The status of a service that may sleep. Times in seconds; `now` since 1970.

    Not `may_rest`: a schedule has it run replicas at this moment, so that nobody can say when it will sleep.
    """
    quiet = idleness.quiet_since
    shown = may_rest and quiet is not None and now - quiet >= _SHOWN_AFTER_SECONDS
    fields = {
        "afterSeconds": round(after_seconds),
        "since": _time(idleness.asleep_since),
        "sleepsAt": _time(quiet + after_seconds) if quiet is not None and shown else None,
        "startSeconds": None if start_seconds is None else round(start_seconds),
        "held": held or None,
        "counted": idleness.counted if shown else None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def idleness_in(status: Mapping[str, Any] | None) -> Idleness:
    """What a status tells of a service's rest, to go on from; nothing where it cannot be read."""
    said = status or {}
    until = seconds_of(said.get("sleepsAt"))
    after = said.get("afterSeconds")
    quiet = until - after if until is not None and isinstance(after, int) else None
    return Idleness(
        quiet_since=quiet, counted=str(said.get("counted") or ""), asleep_since=seconds_of(said.get("since"))
    )


def idle_gist(status: Mapping[str, Any] | None) -> tuple[object, ...]:
    """What of it is news: whether it sleeps, whether it will, whether something is held."""
    said = status or {}
    return said.get("since"), "sleepsAt" in said, "held" in said, said.get("afterSeconds")


def seconds_of(text: object) -> float | None:
    """An RFC 3339 time in seconds since 1970; None for what is none."""
    try:
        found = datetime.fromisoformat(str(text)[:64])
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else timestamp(datetime.fromtimestamp(seconds, UTC))


def asleep_message(idle: Mapping[str, Any] | None, name: str, *, can_hold: bool) -> str:
    """What Ready says of a service that sleeps: since when, what wakes it, and how long that takes."""
    said = idle or {}
    since = f"asleep since {said['since']}" if "since" in said else "asleep"
    if not can_hold:
        return (
            f"{since}, and no activator is ready: requests are refused, and none wakes it; to start a replica: "
            f"llmservice wake {name}; an administrator finds why by llmservice doctor"
        )
    start = f", and is answered after about {said['startSeconds']} s" if "startSeconds" in said else ""
    return f"{since}; the first request starts a replica{start}; to start one before: llmservice wake {name}"
