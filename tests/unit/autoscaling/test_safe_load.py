"""The safe load: assumed until measured, lowered by measured violations, fed only by representative minutes."""

import dataclasses
import math

import pytest

from llmservice.autoscaling.capacity_line import Limits
from llmservice.autoscaling.memory import Capacity, Demand, Sizes, Violations
from llmservice.autoscaling.safe_load import safe_load, sampled
from tests.unit.autoscaling.builders import a_flow, a_replica, a_snapshot

LIMIT = 10_000.0
LIMITS = Limits(
    within_objective=LIMIT,
    saturated=1.1 * LIMIT,
    by_latency=LIMIT,
    by_memory=LIMIT,
    patience=100.0,
    fastest=1.2 * LIMIT,
)
SIZES = Sizes(entered_tokens=1000.0, prompts=1.0, generated_tokens=200.0, answers=1.0, finished_per_second=5.0)
UNREACHABLE = dataclasses.replace(LIMITS, within_objective=1e9)
STEADY = Demand(sizes=SIZES, loads=(4800,) * 20)


def measured(share_over: float, *, at: float, requests: float = 20_000.0) -> Capacity:
    level = round(math.log(at) / 0.05)
    return Capacity(violations={level: Violations(requests, requests * share_over)})


def watched(minutes: int, demand: Demand = STEADY, **changes: float) -> Capacity:
    """What is sampled from one replica within so many minutes of equal readings."""
    capacity = Capacity()
    waiting = changes.pop("waiting", 0.0)
    for _ in range(6 * minutes):
        capacity = sampled(capacity, demand, a_snapshot(a_replica(flow=a_flow(**changes), waiting=waiting)), LIMITS)
    return capacity


def sampled_requests(capacity: Capacity) -> float:
    return sum(level.requests for level in capacity.violations.values()) / capacity.violation_weight


def test_without_measurements_it_is_a_share_of_what_the_line_allows() -> None:
    assert 0.8 * LIMIT < safe_load(Capacity(), LIMITS) < 0.95 * LIMIT


def test_long_prompts_lower_it_before_any_is_late() -> None:
    loads = [safe_load(Capacity(), dataclasses.replace(LIMITS, patience=left)) for left in (100.0, 10.0, 5.0, 2.0)]
    assert loads == sorted(set(loads), reverse=True)
    assert loads[-1] == pytest.approx(0.2 * LIMIT)


def test_long_prompts_that_were_in_time_raise_it_again() -> None:
    long_prompts = dataclasses.replace(LIMITS, patience=4.0)
    assert safe_load(measured(0.0, at=6000.0), long_prompts) > 1.5 * safe_load(Capacity(), long_prompts)


def test_misses_at_a_lower_load_lower_it() -> None:
    assert safe_load(measured(0.05, at=6000.0), LIMITS) < 6000.0


def test_good_measurements_never_raise_it_above_the_margin() -> None:
    assert safe_load(measured(0.0, at=10_500.0), LIMITS) < 0.95 * LIMIT


def test_a_few_misses_do_not_outweigh_many_good_requests() -> None:
    assert safe_load(measured(0.004, at=6000.0), LIMITS) > 6000.0


def test_hopeless_measurements_leave_a_floor() -> None:
    assert safe_load(measured(1.0, at=3000.0), LIMITS) == pytest.approx(0.3 * LIMIT)


def test_a_representative_minute_is_sampled_after_two_quiet_ones() -> None:
    assert sampled_requests(watched(1)) == 0.0
    assert sampled_requests(watched(2)) == pytest.approx(6 * 40.0)


def test_requests_over_either_objective_are_counted() -> None:
    (level,) = watched(2, ttft_violations=1.0, tpot_violations=2.0).violations.values()
    assert level.over / level.requests == pytest.approx(3.0 / 40.0)


def test_a_replica_with_a_queue_is_not_sampled() -> None:
    assert watched(4, waiting=4.0).violations == {}


def test_a_replica_with_hardly_any_load_is_not_sampled() -> None:
    assert watched(4, prompt_tokens=7000.0, generated_tokens=2000.0).violations == {}


def test_nothing_is_sampled_while_arrivals_jump() -> None:
    jumping = dataclasses.replace(STEADY, loads=(4800,) * 19 + (14_400,))
    assert watched(4, jumping).violations == {}


def test_nothing_is_sampled_before_the_load_is_known() -> None:
    assert watched(4, Demand()).violations == {}


def test_a_minute_with_unequal_halves_is_not_sampled() -> None:
    capacity = Capacity()
    for tick in range(24):
        flow = a_flow(60.0 if tick % 6 < 3 else 15.0)
        capacity = sampled(capacity, STEADY, a_snapshot(a_replica(flow=flow)), LIMITS)
    assert capacity.violations == {}


def test_a_replica_that_left_is_no_longer_with_reading() -> None:
    capacity = sampled(Capacity(), STEADY, a_snapshot(a_replica("a"), a_replica("b")), LIMITS)
    assert set(sampled(capacity, STEADY, a_snapshot(a_replica("b")), LIMITS).minutes) == {"b"}


def test_old_samples_fade() -> None:
    capacity = watched(2)
    for _ in range(720):
        capacity = sampled(capacity, STEADY, a_snapshot(), UNREACHABLE)
    assert sampled_requests(capacity) == pytest.approx(6 * 40.0 / math.e**0.72, rel=0.01)


def test_the_weight_of_a_sample_grows_for_ever_without_leaving_the_numbers() -> None:
    started = dataclasses.replace(measured(0.05, at=6000.0), violation_weight=1.0)
    grown = Capacity(
        violations={
            level: Violations(seen.requests * 1e6, seen.over * 1e6) for level, seen in started.violations.items()
        },
        violation_weight=1e6,
    )
    capacity = sampled(grown, STEADY, a_snapshot(), LIMITS)
    assert capacity.violation_weight == 1.0
    assert safe_load(capacity, LIMITS) == pytest.approx(safe_load(started, LIMITS))
    assert sampled_requests(capacity) == pytest.approx(sampled_requests(started) / 1.001)


def test_samples_that_have_faded_to_nothing_are_left_out_then() -> None:
    faded = Capacity(violations={170: Violations(5e3, 1.0), 171: Violations(5e6, 1.0)}, violation_weight=1e6)
    assert set(sampled(faded, STEADY, a_snapshot(), LIMITS).violations) == {171}
