"""What arrives: tokens per second offered to the service, from what each replica finished and still holds."""

import dataclasses
import math
from collections.abc import Sequence

from llmservice.autoscaling.arithmetic import mean, nearing
from llmservice.autoscaling.memory import (
    COLD_STARTS_KEPT,
    HALF_MINUTES_KEPT,
    LOADS_KEPT,
    Demand,
    Sizes,
)
from llmservice.autoscaling.snapshot import Flow, Snapshot

_ASSUMED_COLD_START = 120.0
"""Seconds, until one was measured."""

HALF_MINUTE = 3
"""Readings."""


def observed(demand: Demand, snapshot: Snapshot) -> Demand:
    """The demand with this snapshot's readings; unchanged sizes and loads when no flow is known.

    Replicas whose arrivals are not known are taken to receive what the others receive: those read once, and those of an
    engine that does not count what finished.
    """
    cold_starts = (*demand.cold_starts, *(round(seconds) for seconds in snapshot.cold_starts))[-COLD_STARTS_KEPT:]
    held = (*demand.held, round(_for_all(snapshot.running + snapshot.waiting, len(snapshot.ready), snapshot)))[-6:]
    flows = [flow for flow in snapshot.flows if flow.arrived is not None]
    sizes = measured_sizes(demand.sizes, flows)
    loads, half_minutes, readings = demand.loads, demand.half_minutes, demand.readings
    if flows and sizes is not None:
        arrived = _for_all(sum((flow.arrived or 0.0) / flow.seconds for flow in flows), len(flows), snapshot)
        loads = (*loads, max(0, round(arrived * sizes.tokens)))[-LOADS_KEPT:]
        readings += 1
        if readings % HALF_MINUTE == 0:
            half_minutes = (*half_minutes, round(recent(loads, HALF_MINUTE)))[-HALF_MINUTES_KEPT:]
    return dataclasses.replace(
        demand,
        sizes=sizes,
        loads=loads,
        half_minutes=half_minutes,
        readings=readings,
        held=held,
        cold_starts=cold_starts,
    )


def cold_start_seconds(demand: Demand) -> float:
    """Seconds from ordering a replica until it is ready: the longest of the last eight."""
    return max(demand.cold_starts, default=_ASSUMED_COLD_START)


def recent(loads: Sequence[int], readings: float) -> float:
    """Mean of the last so many readings (at least one)."""
    return mean(loads[-max(1, round(readings)) :])


def measured_sizes(sizes: Sizes | None, flows: Sequence[Flow]) -> Sizes | None:
    """Tokens of a mean request over about the last 150 s of requests; None while nothing has finished.

    From the sizes that the engine reports of finished requests, where it does. Otherwise prompt = prompt tokens / first
    tokens, and answer = generated tokens / (finished + half of the growth in what decodes): on average a running
    request has half of its answer, and growth = first tokens - finished.
    """
    finished = sum(flow.finished for flow in flows)
    if finished <= 0:
        return sizes
    rate = finished / mean([flow.seconds for flow in flows])
    entered, prompts, generated, answers = (sum(column) for column in zip(*map(_sizes_in, flows), strict=True))
    if sizes is None:
        return Sizes(entered, prompts, generated, answers, rate) if prompts > 0 and entered + generated > 0 else None
    kept = math.exp(-finished / max(300.0, 150.0 * sizes.finished_per_second))
    return Sizes(
        kept * sizes.entered_tokens + entered,
        kept * sizes.prompts + prompts,
        kept * sizes.generated_tokens + generated,
        kept * sizes.answers + answers,
        nearing(sizes.finished_per_second, rate, 0.1),
    )


def _sizes_in(flow: Flow) -> tuple[float, float, float, float]:
    """Prompt tokens and their prompts, generated tokens and their answers."""
    if flow.finished_prompt_tokens is not None and flow.finished_generated_tokens is not None:
        return flow.finished_prompt_tokens, flow.finished, flow.finished_generated_tokens, flow.finished
    prompts = flow.finished if flow.first_tokens is None else flow.first_tokens
    return flow.prompt_tokens, prompts, flow.generated_tokens, 0.5 * (flow.finished + prompts)


def _for_all(value: float, read: int, snapshot: Snapshot) -> float:
    """A sum over the replicas that were read, as if all that take requests had been."""
    return value * snapshot.serving / read if read else 0.0
