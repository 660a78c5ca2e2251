"""Counters read twice: growth, resets, what histograms say about an objective."""

import math

import pytest

from llmservice.autoscaling.counters import Counters, Histogram, flow_between, plausible
from llmservice.autoscaling.policy import Objective
from tests.unit.autoscaling.builders import counters

OBJECTIVE = Objective(ttft_seconds=3.0, tpot_seconds=0.1)


def test_counts_what_happened_in_between() -> None:
    before = counters(0.0, prompt_tokens=100, generated_tokens=50, finished=2)
    after = counters(10.0, prompt_tokens=1100, generated_tokens=250, finished=6)
    flow = flow_between(before, after, OBJECTIVE)
    assert flow is not None
    assert (flow.seconds, flow.finished, flow.tokens_per_second) == (10.0, 4, 120.0)


def test_arrivals_are_what_left_and_what_is_held_more() -> None:
    before = counters(0.0, running=3, waiting=1, finished=2, rejected=1)
    after = counters(10.0, running=5, waiting=4, finished=6, rejected=2)
    flow = flow_between(before, after, OBJECTIVE)
    assert flow is not None
    assert flow.arrived == 4 + 1 + 5


def test_arrivals_are_unknown_where_what_finished_is_not_counted() -> None:
    flow = flow_between(counters(0.0, running=3, finished=None), counters(10.0, running=5, finished=None), OBJECTIVE)
    assert flow is not None
    assert (flow.arrived, flow.finished) == (None, 0)


@pytest.mark.parametrize("counter", ["prompt_tokens", "generated_tokens", "finished", "rejected"])
def test_knows_nothing_of_an_interval_with_a_reset(counter: str) -> None:
    assert flow_between(counters(0.0, **{counter: 9.0}), counters(10.0, **{counter: 3.0}), OBJECTIVE) is None


def test_takes_a_smaller_histogram_for_a_reset() -> None:
    before = counters(0.0, inter_token_latency=Histogram(count=9, total=1.0))
    assert flow_between(before, counters(10.0), OBJECTIVE) is None


@pytest.mark.parametrize("later", [0.0, -5.0])
def test_knows_nothing_without_time_in_between(later: float) -> None:
    assert flow_between(counters(0.0), counters(later), OBJECTIVE) is None


def test_missing_histograms_stay_unknown() -> None:
    bare = {"ttft": None, "tpot": None, "inter_token_latency": None}
    flow = flow_between(counters(0.0, **bare), counters(10.0, **bare), OBJECTIVE)
    assert flow is not None
    assert (
        flow.first_tokens,
        flow.ttft_violations,
        flow.tpot_violations,
        flow.inter_token_count,
        flow.inter_token_seconds,
    ) == (None,) * 5


def test_without_a_count_of_finished_requests_gaps_say_nothing() -> None:
    before, after = (
        counters(at, finished=None, inter_token_latency=Histogram(count=at, total=at)) for at in (0.0, 10.0)
    )
    flow = flow_between(before, after, OBJECTIVE)
    assert flow is not None
    assert (flow.finished, flow.inter_token_count) == (0.0, None)


def test_counts_first_tokens_over_the_objective() -> None:
    seen = Histogram(count=100, total=0, bounds=(1.0, 2.5, 5.0), counts=(80, 90, 100))
    flow = flow_between(counters(0.0), counters(10.0, ttft=seen), OBJECTIVE)
    assert flow is not None
    assert flow.ttft_violations == pytest.approx(8.0)  # 90 within 2.5 s, and a fifth of the ten up to 5 s


@pytest.mark.parametrize(
    ("threshold", "above"), [(0.0, 10.0), (0.5, 8.0), (1.0, 6.0), (1.5, 4.0), (2.0, 2.0), (9.0, 2.0)]
)
def test_splits_a_bucket_evenly_and_resolves_nothing_beyond_the_last(threshold: float, above: float) -> None:
    histogram = Histogram(count=10, total=0, bounds=(1.0, 2.0), counts=(4, 8))
    assert histogram.above(threshold) == pytest.approx(above)


def test_a_histogram_without_buckets_says_nothing_of_thresholds() -> None:
    assert Histogram(count=10, total=3.0).above(1.0) is None


def test_a_replica_that_just_started_began_with_nothing() -> None:
    now = counters(10.0, finished=4, prompt_tokens=400, finished_prompt_tokens=400)
    flow = flow_between(Counters.at_start(now, at=0.0), now, OBJECTIVE)
    assert flow is not None
    assert (flow.finished, flow.prompt_tokens, flow.finished_prompt_tokens) == (4, 400, 400)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, -1.0, 1e16])
def test_nonsense_is_as_good_as_absent(value: float | None) -> None:
    assert plausible(value) is None


@pytest.mark.parametrize("value", [0.0, 1e12])
def test_keeps_what_can_be_meant(value: float) -> None:
    assert plausible(value) == value
