"""The capacity line: learnt from readings, helped by the roofline, and the limits on it."""

import dataclasses

import pytest

from llmservice.autoscaling.capacity_line import Line, fitted, learnt, limits, mostly_measured, with_measured
from llmservice.autoscaling.memory import Capacity, LinePoint, Sizes
from llmservice.autoscaling.policy import Objective
from tests.unit.autoscaling.builders import ROOFLINE, a_flow, a_policy, a_replica, a_snapshot

CHAT = Sizes(entered_tokens=1000.0, prompts=1.0, generated_tokens=200.0, answers=1.0, finished_per_second=5.0)


def a_reading_at(tokens_per_second: float, steps_per_second: float, **changes: float) -> Capacity:
    """What is learnt of one replica that went so fast."""
    values = {
        "prompt_tokens": tokens_per_second * 8,
        "generated_tokens": tokens_per_second * 2,
        "inter_token_count": 1000.0,
        "inter_token_seconds": 1000.0 / steps_per_second,
    }
    return learnt(Capacity(), a_snapshot(a_replica(flow=a_flow(**values | changes))))


def readings_at(*levels: tuple[float, float]) -> dict[int, LinePoint]:
    """The line's points after one reading at each of these (tokens/s, steps/s)."""
    return {level: point for at in levels for level, point in a_reading_at(*at).line.items()}


def test_two_levels_make_a_line() -> None:
    line = readings_at((1000.0, 90.0), (5000.0, 50.0))
    found = fitted(line, None)
    assert found is not None
    assert (found.unloaded, found.slope) == pytest.approx((100.0, 0.01))


def test_nothing_is_known_from_one_level_alone() -> None:
    assert fitted(a_reading_at(1000.0, 90.0).line, None) is None


def test_the_roofline_stands_in_until_something_is_measured() -> None:
    found = fitted({}, ROOFLINE)
    assert found is not None
    assert found.unloaded == pytest.approx(0.65 * 2e12 / 16e9)


def test_measurements_outweigh_the_roofline() -> None:
    points = readings_at((1000.0, 60.0), (4000.0, 45.0))
    known = {level: dataclasses.replace(point, readings=60.0) for level, point in points.items()}
    found = fitted(known, ROOFLINE)
    assert found is not None
    assert found.unloaded == pytest.approx(65.0, rel=0.02)


def test_points_that_do_not_fall_still_give_a_falling_line() -> None:
    line = readings_at((1000.0, 50.0), (5000.0, 55.0))
    found = fitted(line, None)
    assert found is not None
    assert found.slope > 0
    assert found.unloaded - found.slope * 5000.0 == pytest.approx(55.0)


def test_too_few_gaps_teach_nothing() -> None:
    assert a_reading_at(1000.0, 90.0, inter_token_count=29.0) == Capacity()


def test_steps_without_a_token_teach_nothing() -> None:
    assert a_reading_at(0.0, 90.0) == Capacity()


def test_an_engine_without_gaps_teaches_nothing() -> None:
    assert (
        learnt(Capacity(), a_snapshot(a_replica(flow=a_flow(inter_token_count=None, inter_token_seconds=None))))
        == Capacity()
    )


def test_learns_what_a_token_binds_of_the_kv_cache() -> None:
    flow = a_flow(prompt_tokens=0.0, generated_tokens=5000.0, inter_token_count=5000.0, inter_token_seconds=100.0)
    capacity = learnt(Capacity(), a_snapshot(a_replica(flow=flow, kv_use=0.5)))
    assert capacity.kv_per_token == pytest.approx(0.5 * 50.0 / 500.0)


@pytest.mark.parametrize("kv_use", [None, 0.04])
def test_learns_no_kv_use_from_none_or_next_to_none(kv_use: float | None) -> None:
    assert learnt(Capacity(), a_snapshot(a_replica(kv_use=kv_use))).kv_per_token == 0.0


def test_the_latency_limit_is_where_the_line_meets_the_objective() -> None:
    found = limits(Line(100.0, 0.01), Capacity(), CHAT, a_policy())
    assert found.by_latency == pytest.approx((100.0 - 10.0) / 0.01)
    assert found.within_objective < found.by_latency


def test_a_stricter_objective_leaves_less() -> None:
    strict = a_policy(objective=Objective(tpot_seconds=0.02))
    loose = limits(Line(100.0, 0.01), Capacity(), CHAT, a_policy())
    assert limits(Line(100.0, 0.01), Capacity(), CHAT, strict).within_objective < loose.within_objective


def test_few_slots_bind_before_latency_does() -> None:
    found = limits(Line(100.0, 0.001), Capacity(), CHAT, a_policy(slots=4))
    assert found.by_memory == pytest.approx(4 * 100.0 / (200 / 1200 + 4 * 0.001))
    assert found.within_objective < found.by_memory < found.by_latency


def test_a_small_kv_cache_binds_before_slots_do() -> None:
    tight = Capacity(kv_per_token=0.5)
    assert limits(Line(100.0, 0.001), tight, CHAT, a_policy()).by_memory == pytest.approx(
        0.97 * 100.0 / (0.5 * 200 / 1200 + 0.97 * 0.001)
    )


def test_an_objective_that_cannot_be_met_still_leaves_a_positive_limit() -> None:
    hopeless = a_policy(objective=Objective(tpot_seconds=0.001))
    assert limits(Line(100.0, 0.01), Capacity(), CHAT, hopeless).within_objective > 0


MEASURED = (LinePoint(1000.0, 90.0, 1.0), LinePoint(5000.0, 50.0, 1.0))
"""What a bench says of a replica."""


def test_levels_of_a_bench_make_a_line_before_anything_is_learnt() -> None:
    found = fitted(with_measured({}, MEASURED), None)
    assert found is not None
    assert (found.unloaded, found.slope) == pytest.approx((100.0, 0.01))


def test_a_reading_takes_the_place_of_the_bench_at_its_level() -> None:
    known = with_measured(readings_at((5000.0, 30.0)), MEASURED)
    assert sorted(point.steps_per_second for point in known.values()) == pytest.approx([30.0, 90.0])


def test_the_bench_counts_for_less_than_half_once_more_was_read() -> None:
    assert mostly_measured({}, MEASURED)
    assert not mostly_measured(readings_at((1000.0, 90.0), (5000.0, 50.0)), MEASURED)
    assert not mostly_measured({}, ())
