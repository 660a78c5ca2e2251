"""What the page shows, as JSON: a page of services, and one of them. Every text is cut and printable. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llmservice.objects.starts import phases_in
from llmservice.ui.history import Track
from llmservice.untrusted.texts import cut, printable

PAGE = 50
_LONGEST = 2000
_LONGEST_IN_ROW = 500
_MOST_PARTS = 200
_MOST_DEPTH = 12
_ROW = ("namespace", "name", "reached", "reason", "message", "replicas", "engine", "model")


def row_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """What a list shows of a service, and nothing else: it is kept for as long as somebody looks."""
    row: dict[str, Any] = _plain({name: state[name] for name in _ROW}, longest=_LONGEST_IN_ROW)
    return row


def services_view(
    rows: Sequence[Mapping[str, Any]], *, wanted: str = "", only_unready: bool = False, page: int = 0
) -> dict[str, Any]:
    """A page of those rows whose text has all of the wanted words; those that are not as declared stand first."""
    words = wanted.casefold().split()
    found = [row for row in rows if _has(row, words) and not (only_unready and row["reached"])]
    found.sort(key=lambda row: (row["reached"], row["namespace"], row["name"]))
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(0, page), pages - 1)
    return {
        "total": len(rows),
        "unready": sum(not row["reached"] for row in rows),
        "found": len(found),
        "page": page,
        "pages": pages,
        "rows": found[page * PAGE : (page + 1) * PAGE],
    }


def service_view(
    state: Mapping[str, Any], status: Mapping[str, Any], track: Track, explanation: Mapping[str, Any]
) -> dict[str, Any]:
    """One service: what `status` says of it, the reasons of its plan, its starts, its replicas over time, and why."""
    plan, startup = status.get("plan") or {}, status.get("startup") or {}
    shown = {
        **{name: value for name, value in state.items() if name not in {"startup", "autoscaling"}},
        "defaults": list(plan.get("defaults") or ()),
        "notes": list(plan.get("notes") or ()),
        "starts": [start for name in ("current", "last") if (start := _start(name, startup.get(name)))],
        "scaling": {name: value for name, value in (status.get("autoscaling") or {}).items() if name != "checkpoint"},
        "explanation": dict(explanation),
        "decisions": list(track.decisions)[::-1],
    }
    view: dict[str, Any] = _plain(shown)
    view["points"] = [list(point) for point in track.points]
    return view


def _has(row: Mapping[str, Any], words: Iterable[str]) -> bool:
    text = " ".join(str(row[name]) for name in _ROW).casefold()
    return all(word in text for word in words)


def _start(name: str, start: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A start with the seconds of its phases, in their order."""
    if not start:
        return None
    phases = [{"phase": phase, "seconds": seconds} for phase, seconds in phases_in(start).items() if seconds]
    return {
        "which": "now" if name == "current" else "last",
        "pod": start.get("pod", ""),
        "phase": start.get("phase", ""),
        "totalSeconds": start.get("totalSeconds"),
        "phases": phases,
    }


def _plain(value: Any, depth: int = 0, longest: int = _LONGEST) -> Any:
    """The same with texts that are cut and printable, and lists and mappings that end."""
    if isinstance(value, str):
        return cut(printable(value), longest)
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth >= _MOST_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(name)[:longest]: _plain(part, depth + 1, longest) for name, part in [*value.items()][:_MOST_PARTS]}
    return [_plain(part, depth + 1, longest) for part in [*value][:_MOST_PARTS]]
