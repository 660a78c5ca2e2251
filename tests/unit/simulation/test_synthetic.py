"""Loads made of kinds: as many and as large as asked for, over time."""

import pytest

from llmservice.simulation.synthetic import Kind, arrivals_of, day

STEADY = Kind(prompt=5000, answer=300, spread=0.5, rate=((0, 10), (2000, 10)))


def test_comes_as_often_and_as_large_as_asked_for() -> None:
    made = arrivals_of([STEADY], seed=1)
    assert len(made) == pytest.approx(20_000, rel=0.03)
    assert sum(arrival.prompt_tokens for arrival in made) / len(made) == pytest.approx(5000, rel=0.03)
    assert sum(arrival.output_tokens for arrival in made) / len(made) == pytest.approx(300, rel=0.03)


def test_a_rate_may_change() -> None:
    made = arrivals_of([Kind(prompt=100, answer=10, spread=0.5, rate=((0, 0), (1000, 20), (2000, 0)))], seed=1)
    assert sum(500 <= arrival.at < 1500 for arrival in made) / len(made) == pytest.approx(0.75, abs=0.02)


def test_kinds_come_together_in_the_order_of_time() -> None:
    made = arrivals_of([STEADY, Kind(prompt=100, answer=10, spread=0.1, rate=((0, 10), (2000, 10)))], seed=1)
    assert made == sorted(made)
    assert sum(arrival.prompt_tokens < 500 for arrival in made) / len(made) == pytest.approx(0.5, abs=0.02)


def test_a_seed_repeats_itself() -> None:
    assert arrivals_of([STEADY], seed=3) == arrivals_of([STEADY], seed=3) != arrivals_of([STEADY], seed=4)


def test_a_day_goes_from_low_to_high_and_back() -> None:
    rates = [rate for _, rate in day(hours=8, low=2.0, high=10.0)]
    assert (rates[0], max(rates), rates[-1]) == pytest.approx((2.0, 10.0, 2.0))
    assert rates.index(max(rates)) == len(rates) // 2
