"""What `llmservice status` prints: a line for each service, or one screen for one of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cli.plural import counted
from llmservice.cli.table import Painted, bad, good, table, warning
from llmservice.converging.spans import span
from llmservice.models.sizes import in_gb
from llmservice.objects.starts import phases_in
from llmservice.untrusted.tables import cell

_COLUMNS = ("NAMESPACE", "NAME", "STATE", "REPLICAS", "ENGINE", "MODEL")
_WIDE = ("DEVICES", "REQUESTS", "TOKENS", "AGE", "URL")


def as_list(states: Sequence[Mapping[str, Any]], *, wide: bool = False) -> str:
    """Those that are not as declared first, each with what is said of it."""
    if not states:
        return "no LLMServices; apply one: kubectl apply -f chat.yaml\n"
    order = sorted(states, key=lambda state: (state["reached"], state["namespace"], state["name"]))
    rows = ((*_row(state), *(_more(state) if wide else ())) for state in order)
    lines = table([(*_COLUMNS, *(_WIDE if wide else ())), *rows])
    said = {index: state for index, state in enumerate(order, start=1) if not state["reached"]}
    return "".join(f"{line}\n{_said(said[index]) if index in said else ''}" for index, line in enumerate(lines))


def as_screen(state: Mapping[str, Any]) -> str:
    """One service: what is said of it, what runs, why, and what happened."""
    name = f"{state['namespace']}/{state['name']}"
    (head,) = table([(name, _reason(state), f"{cell(state['replicas'])} replicas")])
    facts = "".join(f"{line}\n" for line in table(_facts(state)))
    remarks = "".join(
        f"\n{cell(each['type'])} {cell(each['status'])}, {cell(each['reason'])}\n  {cell(each['message'])}\n"
        for each in state["remarks"]
    )
    return (
        f"{head}\n{_said(state)}\n{facts}{remarks}"
        + _section(_pods(state["pods"]))
        + _section(_events(state["events"]))
    )


def _row(state: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        state["namespace"],
        state["name"],
        _reason(state),
        *(state[name] for name in ("replicas", "engine", "model")),
    )


def _more(state: Mapping[str, Any]) -> tuple[object, ...]:
    plan = state["plan"]
    kind = plan.get("accelerator") or plan.get("resourceName") or ""
    devices = f"{plan['devices']} x {kind}" if plan.get("devices") else ""
    return devices, plan.get("maxNumSeqs"), plan.get("maxModelLen"), _ago(state["age"]), state["url"]


def _reason(state: Mapping[str, Any]) -> Painted:
    """Red is what does not go on by itself."""
    if state["reached"]:
        return good(str(state["reason"]))
    return (bad if state["stalled"] else warning)(str(state["reason"]))


def _said(state: Mapping[str, Any]) -> str:
    return f"  {cell(state['message'])}\n"


def _facts(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    plan, weights, scaling = state["plan"], state["weights"], state["autoscaling"]
    yield "engine", f"{state['engine']}, {plan['image']}" if plan else state["engine"]
    yield "model", state["model"]
    if plan.get("devices"):
        yield "devices", f"{plan['devices']} x {plan.get('accelerator') or plan.get('resourceName')} for each replica"
    if plan.get("maxNumSeqs"):
        length = f"{plan['maxModelLen']} tokens each" if plan.get("maxModelLen") else "as long as the engine allows"
        yield "requests", f"{plan['maxNumSeqs']} at once for each replica, {length}"
    if weights.get("claim"):
        yield "weights", f"{in_gb(weights.get('bytes', 0))} on claim {weights['claim']}"
    yield from _start(state["startup"])
    if scaling.get("message"):
        yield "autoscaling", str(scaling["message"])
    if schedule := scaling.get("schedule"):
        yield "schedule", _schedule(schedule)
    if (idle := scaling.get("idle")) and state["reason"] != Reason.SUSPENDED:
        yield "idle", _rest(idle, (scaling.get("schedule") or {}).get("minReplicas", 0))


def _start(startup: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    last = startup.get("last") or {}
    if "totalSeconds" in last:
        parts = ", ".join(f"{phase} {span(seconds)}" for phase, seconds in phases_in(last).items() if seconds)
        yield "last start", f"{span(last['totalSeconds'])} ({parts})" if parts else span(last["totalSeconds"])


def _schedule(schedule: Mapping[str, Any]) -> str:
    """Which one is in force, its bounds, and what follows it."""
    bounds = f"{schedule.get('minReplicas', 0)} to {schedule.get('maxReplicas', '')} replicas"
    following = f", then {schedule.get('following') or 'none'}"
    until = f", until {schedule['until']}{following}" if "until" in schedule else ""
    return f"{schedule.get('name') or 'none'}: {bounds}{until}"


def _rest(idle: Mapping[str, Any], least: int) -> str:
    """Whether it sleeps, or when it will."""
    count = idle.get("held") or 0
    held = f"; {counted(count, 'request')} {'is' if count == 1 else 'are'} held" if count else ""
    if idle.get("since"):
        return f"asleep since {idle['since']}{held}"
    if least:
        return f"awake: at least {counted(least, 'replica')} at this hour{held}"
    when = f", at {idle['sleepsAt']}" if idle.get("sleepsAt") else ""
    return f"sleeps after {span(idle.get('afterSeconds', 0))} without a request{when}{held}"


def _pods(pods: Iterable[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    for index, pod in enumerate(pods):
        if index == 0:
            yield ("POD", "STATE", "RESTARTS", "AGE", "NODE")
        paint = good if pod["state"] == "Ready" else warning
        yield (pod["name"], paint(pod["state"]), str(pod["restarts"]), _ago(pod["age"]), pod["node"])


def _events(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    for index, event in enumerate(events):
        if index == 0:
            yield ("AGO", "EVENT", "MESSAGE")
        reason = warning(event["reason"]) if event["type"] == "Warning" else event["reason"]
        yield (_ago(event["age"]), reason, event["message"])


def _ago(seconds: float | None) -> str:
    return "" if seconds is None else span(seconds)


def _section(rows: Iterable[tuple[object, ...]]) -> str:
    lines = table(found) if (found := list(rows)) else []
    return "".join(f"\n{line}\n" if index == 0 else f"{line}\n" for index, line in enumerate(lines))
