"""Forecasts: level, trend, jumps; and how far they are trusted."""

import dataclasses

import pytest

from llmservice.autoscaling.forecast import burstiness, judged, outlook, working_level
from llmservice.autoscaling.memory import Demand, Forecast


def loaded(*loads: int) -> Demand:
    return Demand(loads=loads, readings=len(loads))


def wavy(level: int, count: int) -> list[int]:
    return [level + (60 if index % 2 else -60) for index in range(count)]


def test_steady_load_stays() -> None:
    seen = outlook(loaded(*[5000] * 40), 130.0, 10.0)
    assert (seen.ahead, seen.now, seen.slope) == (5000.0, 5000.0, 0.0)


def test_one_reading_is_enough_to_say_something() -> None:
    assert outlook(loaded(7000), 130.0, 10.0).now == 7000.0


def test_a_clear_rise_is_carried_on_damped() -> None:
    seen = outlook(loaded(*[1000 + 100 * tick for tick in range(40)]), 120.0, 10.0)
    assert seen.slope == pytest.approx(10.0)
    assert seen.ahead == pytest.approx(4650.0 + 0.3 * 10.0 * 150.0)


def test_a_rise_is_never_carried_on_by_more_than_60_percent() -> None:
    seen = outlook(loaded(*[10 * tick * tick for tick in range(40)]), 600.0, 10.0)
    level = sum(10 * tick * tick for tick in range(10, 40)) / 30
    assert seen.ahead == pytest.approx(1.6 * level)


def test_noise_has_no_trend() -> None:
    assert outlook(loaded(*wavy(5000, 41)), 130.0, 10.0).slope == 0.0


def test_a_jump_shows_within_half_a_minute() -> None:
    seen = outlook(loaded(*wavy(5000, 40), 9000, 9000, 9000), 130.0, 10.0)
    assert seen.now == 9000.0


def test_a_higher_last_reading_never_lowers_the_outlook() -> None:
    rising = [1000 + 40 * tick for tick in range(40)]
    looks = [outlook(loaded(*rising, last), 130.0, 10.0) for last in range(0, 30_000, 250)]
    assert [max(seen.ahead, seen.now) for seen in looks] == sorted(max(seen.ahead, seen.now) for seen in looks)


def test_a_forecast_is_noted_twice_a_minute_and_judged_when_its_time_has_come() -> None:
    demand = dataclasses.replace(loaded(*[5000] * 30), half_minutes=(4000,) * 10)
    noted = judged(demand, 6000.0, 120.0, now=300.0, safe_load=5000.0)
    assert noted.forecasts == (Forecast(300.0, 6000, 4000),)
    later = judged(noted, 6000.0, 120.0, now=420.0, safe_load=5000.0)
    assert (later.judged, later.error, later.ordinary_error) == (1, 1000.0, 1000.0)
    assert len(later.forecasts) == 1


def test_nothing_is_noted_in_between() -> None:
    demand = dataclasses.replace(loaded(*[5000] * 31), half_minutes=(4000,) * 10)
    assert judged(demand, 6000.0, 120.0, now=300.0, safe_load=5000.0) == demand


def test_trouble_is_learnt_faster_than_forgotten() -> None:
    demand = Demand(
        loads=(0,) * 30, readings=30, half_minutes=(0,), judged=9, error=100.0, forecasts=(Forecast(0.0, 1100, 0),)
    )
    worse = judged(demand, 0.0, 120.0, now=130.0, safe_load=5000.0)
    better = judged(
        dataclasses.replace(demand, forecasts=(Forecast(0.0, 0, 0),)), 0.0, 120.0, now=130.0, safe_load=5000.0
    )
    assert worse.error - 100.0 == pytest.approx(150.0)
    assert 100.0 - better.error == pytest.approx(3.0)


def test_what_came_beyond_a_forecast_is_a_surprise_in_the_unit_of_the_reserve() -> None:
    demand = Demand(loads=(9000,) * 30, readings=30, half_minutes=(0,), forecasts=(Forecast(0.0, 5000, 0),))
    surprised = judged(demand, 9000.0, 240.0, now=240.0, safe_load=2000.0)
    assert surprised.surprise == pytest.approx((4000.0 / (2 * (5000 * 2000) ** 0.5)) ** 2)
    assert surprised.surprise_hours == pytest.approx(1 / 120)


def test_what_stayed_below_a_forecast_is_none() -> None:
    demand = Demand(loads=(1000,) * 30, readings=30, half_minutes=(0,), forecasts=(Forecast(0.0, 5000, 0),))
    assert judged(demand, 9000.0, 240.0, now=240.0, safe_load=2000.0).surprise == 0.0


@pytest.mark.parametrize(
    ("error", "ordinary_error", "strength"),
    [(0.0, 900.0, 0.0), (900.0, 2000.0, 0.0), (900.0, 600.0, 1.0), (300.0, 200.0, 0.0)],
)
def test_on_off_traffic_fails_forecasts_by_a_lot_and_no_better_than_the_hour(
    error: float, ordinary_error: float, strength: float
) -> None:
    demand = Demand(half_minutes=(1000,) * 60, judged=60, error=error, ordinary_error=ordinary_error)
    assert burstiness(demand) == pytest.approx(strength)


def test_burstiness_is_unknown_for_the_first_minutes() -> None:
    assert burstiness(Demand(half_minutes=(1000,), judged=19, error=900.0, ordinary_error=1.0)) == 0.0


def test_the_working_level_weighs_half_minutes_by_their_work() -> None:
    assert working_level(Demand(half_minutes=(10,) * 100 + (10_000,) * 5)) == 10_000
    assert working_level(Demand(half_minutes=(100,) * 10 + (0,) * 90)) == 100
