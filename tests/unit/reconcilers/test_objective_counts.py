"""Requests within and beyond the objective: each counted once, and what no engine reports stays unknown."""

from dataclasses import dataclass
from typing import Any, cast

from llmservice.autoscaling.snapshot import Flow, Replica, Snapshot
from llmservice.converging.pod_readings import PodReadings, Reading
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.objective_counts import ObjectiveCounts
from tests.unit.autoscaling.builders import counters


@dataclass(frozen=True)
class Round:
    """What is read of an evaluation."""

    snapshot: Snapshot
    readings: PodReadings


def flow(**told: Any) -> Flow:
    return Flow(seconds=10.0, prompt_tokens=100.0, generated_tokens=100.0, arrived=4.0, **({"finished": 4.0} | told))


def a_round(at: float, told: Flow | None) -> Evaluation:
    reading = Reading(counters=counters(at, running=1.0))
    members = (Replica(name="chat-0", flow=told),)
    return cast("Evaluation", Round(Snapshot(replicas=1, members=members), {"chat-0": reading}))


def test_rounds_add_up() -> None:
    first = a_round(10.0, flow(first_tokens=5.0, ttft_violations=0.5, tpot_violations=1.0))
    second = a_round(20.0, flow(first_tokens=3.0, ttft_violations=1.0, tpot_violations=0.0))
    counts = ObjectiveCounts().with_round(first, None).with_round(second, first)
    assert (counts.first_tokens, counts.late_first_tokens) == (8.0, 1.5)
    assert (counts.answers, counts.slow_answers) == (8.0, 1.0)


def test_a_sample_that_is_given_twice_counts_once() -> None:
    told = flow(first_tokens=5.0, ttft_violations=5.0)
    first, again = a_round(10.0, told), a_round(10.0, told)
    counts = ObjectiveCounts().with_round(first, None).with_round(again, first)
    assert counts.first_tokens == 5.0


def test_what_an_engine_does_not_report_is_unknown_and_not_good() -> None:
    counts = ObjectiveCounts().with_round(a_round(10.0, flow()), None)
    assert counts == ObjectiveCounts()


def test_a_replica_without_a_flow_adds_nothing() -> None:
    counts = ObjectiveCounts().with_round(a_round(10.0, None), None)
    assert counts == ObjectiveCounts()
