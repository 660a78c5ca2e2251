"""What `llmservice replay` tells of a replay: figures and decisions, for people and as JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from llmservice.autoscaling.policy import Objective
from llmservice.simulation.replaying import Moment, Replay


def as_text(title: str, replays: Mapping[str, Replay], *, decisions: bool) -> str:
    """One line per change of the first policy, if they are wanted, then one per figure, or a table of all policies."""
    result = next(iter(replays.values()))
    changes = [_line(moment) for moment in (_changes(result) if decisions else ())]
    figures = _figures(result)
    if len(replays) > 1:
        load = f"{figures['requests']} requests in {figures['hours']:.2f} h, {_within(result.objective)}"
        return "\n".join([*changes, title, f"  {load}", "", *_table(replays)])
    lines = (
        f"{title}, {next(iter(replays))}",
        f"  requests           {figures['requests']} in {figures['hours']:.2f} h",
        f"  attainment         {figures['attainment']:.4f}  ({_within(result.objective)})",
        f"  average replicas   {figures['average_replicas']:.2f}",
        f"  GPU-hours          {figures['gpu_hours']:.2f}",
        f"  actions            {figures['actions']}",
        f"  reversals          {figures['reversals']}  ({figures['reversals_per_hour']:.1f} an hour)",
        f"  preemptions        {figures['preemptions']}",
    )
    return "\n".join([*changes, *lines])


def as_json(replays: Mapping[str, Replay], *, decisions: bool) -> str:
    """One object: the first policy's figures; `decisions`, a list of its changes, and `against`, if they are wanted.

    `against` has the same figures for each other policy, by name.
    """
    first, *others = replays
    told = _figures(replays[first])
    if decisions:
        told["decisions"] = [_entry(moment) for moment in _changes(replays[first])]
    if others:
        told["against"] = {name: _figures(replays[name]) for name in others}
    return json.dumps(told)


def _table(replays: Mapping[str, Replay]) -> Iterator[str]:
    width = max(len("policy"), *map(len, replays))
    yield f"  {'policy':{width}}  attainment  average replicas  GPU-hours  actions  reversals an hour"
    for name, replay in replays.items():
        row = _figures(replay)
        yield (
            f"  {name:{width}}  {row['attainment']:10.4f}  {row['average_replicas']:16.2f}  {row['gpu_hours']:9.2f}"
            f"  {row['actions']:7d}  {row['reversals_per_hour']:17.1f}"
        )


def _changes(result: Replay) -> Iterator[Moment]:
    """The first decision, and each that asked for another number than the one before."""
    asked = 0
    for moment in result.moments:
        if moment.asked != asked:
            yield moment
        asked = moment.asked


def _line(moment: Moment) -> str:
    return f"{moment.at:7.0f} s  {moment.decision.reason}: {moment.decision.message}"


def _entry(moment: Moment) -> dict[str, Any]:
    decision = moment.decision
    return {
        "at_seconds": moment.at,
        "replicas": moment.asked,
        "reason": decision.reason,
        "message": decision.message,
    }


def _figures(result: Replay) -> dict[str, Any]:
    return {
        "attainment": round(result.attainment, 4),
        "average_replicas": round(result.average_replicas, 3),
        "gpu_hours": round(result.device_hours, 3),
        "actions": len(result.changes),
        "reversals": result.reversals,
        "reversals_per_hour": round(result.reversals / result.hours, 2),
        "requests": len(result.requests),
        "preemptions": result.preemptions,
        "hours": round(result.hours, 3),
    }


def _within(objective: Objective) -> str:
    return f"first token in {objective.ttft_seconds:g} s, then {objective.tpot_seconds:g} s per token"
