"""The Events of a service and of what belongs to it: which they are, and how they are printed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from llmservice.cli.service_state import age, event_time
from llmservice.cli.table import table, warning
from llmservice.converging.redaction import redacted
from llmservice.converging.spans import span
from llmservice.objects.references import Manifest, uid_of

_LONGEST = 1024


def events_of(
    service: Manifest, children: Iterable[Manifest], events: Iterable[Manifest], now: datetime
) -> list[dict[str, Any]]:
    """As plain values, the oldest first. `events` may be those of a namespace; those of others are left out.

    What is gone already is known by its name: pods by that of a ReplicaSet that is still there.
    """
    children = list(children)
    uids = {uid_of(service), *map(uid_of, children)} - {""}
    made = tuple(f"{child['metadata']['name']}-" for child in children if child.get("kind") == "ReplicaSet")
    own = [each for each in events if _is_own(each.get("involvedObject") or {}, uids, made)]
    return [_event(each, now) for each in sorted(own, key=event_time)]


def as_text(events: Sequence[Mapping[str, Any]], *, wide: bool, heading: bool) -> str:
    """A line for each."""
    if not events:
        return "no Events: a cluster keeps them for an hour\n" if heading else ""
    head = ("AGO", "TYPE", "REASON", "OBJECT", *(("TIMES", "FROM") if wide else ()), "MESSAGE")
    lines = table([head, *(_row(each, wide=wide) for each in events)])
    return "".join(f"{line}\n" for line in (lines if heading else lines[1:]))


def _is_own(of: Mapping[str, Any], uids: set[str], made: tuple[str, ...]) -> bool:
    return of.get("uid") in uids or (of.get("kind") == "Pod" and str(of.get("name", "")).startswith(made))


def _event(event: Manifest, now: datetime) -> dict[str, Any]:
    of, series = event.get("involvedObject") or {}, event.get("series") or {}
    count = series.get("count") or event.get("count") or 1
    return {
        "id": f"{uid_of(event)} {count}",
        "age": age(event_time(event), now),
        "type": str(event.get("type", "")),
        "reason": str(event.get("reason", "")),
        "object": f"{of.get('kind', '')}/{of.get('name', '')}",
        "count": count,
        "from": str((event.get("source") or {}).get("component") or event.get("reportingComponent") or ""),
        "message": redacted(str(event.get("message") or ""), _LONGEST),
    }


def _row(event: Mapping[str, Any], *, wide: bool) -> tuple[object, ...]:
    kind = warning(event["type"]) if event["type"] == "Warning" else event["type"]
    more = (event["count"], event["from"]) if wide else ()
    ago = "" if event["age"] is None else span(event["age"])
    return (ago, kind, event["reason"], event["object"], *more, event["message"])
