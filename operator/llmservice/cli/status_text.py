"""What `llmservice status` prints: a line for each service, or one screen for one of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from llmservice.cli.table import cell, table
from llmservice.converging.spans import span
from llmservice.models.sizes import in_gb

_HEADING = ("NAMESPACE", "NAME", "STATE", "REPLICAS", "ENGINE", "MODEL")
_PHASES = ("scheduled", "volumes", "image", "download", "load", "compile", "warmUp")


def as_list(states: Sequence[Mapping[str, Any]]) -> str:
    """Those that are not as declared first, each with what is said of it."""
    if not states:
        return "no LLMServices; apply one: kubectl apply -f chat.yaml\n"
    order = sorted(states, key=lambda state: (state["reached"], state["namespace"], state["name"]))
    lines = table([_HEADING, *(_row(state) for state in order)])
    said = {index: state for index, state in enumerate(order, start=1) if not state["reached"]}
    return "".join(f"{line}\n{_said(said[index]) if index in said else ''}" for index, line in enumerate(lines))


def as_screen(state: Mapping[str, Any]) -> str:
    """One service: what is said of it, what runs, why, and what happened."""
    name = f"{state['namespace']}/{state['name']}"
    head = f"{cell(name)}  {cell(state['reason'])}  {cell(state['replicas'])} replicas\n{_said(state)}\n"
    facts = "".join(f"{line}\n" for line in table(_facts(state)))
    remarks = "".join(
        f"\n{cell(each['type'])} {cell(each['status'])}, {cell(each['reason'])}\n  {cell(each['message'])}\n"
        for each in state["remarks"]
    )
    return head + facts + remarks + _section(_pods(state["pods"])) + _section(_events(state["events"]))


def _row(state: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(state[name]) for name in ("namespace", "name", "reason", "replicas", "engine", "model"))


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


def _start(startup: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    last = startup.get("last") or {}
    if "totalSeconds" in last:
        phases = ((phase, last.get(f"{phase}Seconds")) for phase in _PHASES)
        parts = ", ".join(f"{phase} {span(seconds)}" for phase, seconds in phases if seconds)
        yield "last start", f"{span(last['totalSeconds'])} ({parts})" if parts else span(last["totalSeconds"])


def _pods(pods: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for index, pod in enumerate(pods):
        if index == 0:
            yield ("POD", "STATE", "RESTARTS", "AGE", "NODE")
        yield (pod["name"], pod["state"], str(pod["restarts"]), _ago(pod["age"]), pod["node"])


def _events(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for index, event in enumerate(events):
        if index == 0:
            yield ("AGO", "EVENT", "MESSAGE")
        yield (_ago(event["age"]), event["reason"], event["message"])


def _ago(seconds: float | None) -> str:
    return "" if seconds is None else span(seconds)


def _section(rows: Iterable[tuple[str, ...]]) -> str:
    lines = table(found) if (found := list(rows)) else []
    return "".join(f"\n{line}\n" if index == 0 else f"{line}\n" for index, line in enumerate(lines))
