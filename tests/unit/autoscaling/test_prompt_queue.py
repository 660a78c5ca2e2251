"""How many prompts wait too long before any was seen: by their length and by how busy the engine is."""

import random

import pytest

from llmservice.autoscaling.prompt_queue import late_share, least_busy, patience

FASTEST = 15_000.0


def test_the_longer_the_prompts_the_less_the_objective_leaves() -> None:
    left = [patience(tokens, FASTEST, 3.0) for tokens in (1e3, 3e3, 1e4, 2e4, 5e4)]
    assert left == sorted(set(left), reverse=True)
    assert left[-1] < 0


def test_short_prompts_hardly_wait_and_long_ones_do() -> None:
    assert late_share(0.6, patience(1000.0, FASTEST, 3.0)) < 1e-6
    assert late_share(0.6, patience(20_000.0, FASTEST, 3.0)) > 0.1


def test_the_busier_the_more_wait() -> None:
    shares = [late_share(busy / 10, 5.0) for busy in range(12)]
    assert shares == sorted(shares)
    assert (shares[0], shares[10], shares[11]) == (0.0, 1.0, 1.0)


def test_a_prompt_that_cannot_be_in_time_is_late_whenever_the_engine_is_busy() -> None:
    assert late_share(0.3, -2.0) == pytest.approx(0.3)


@pytest.mark.parametrize("left", [15.0, 40.0, 100.0])
def test_below_the_least_share_next_to_nobody_waits(left: float) -> None:
    assert late_share(least_busy(left), left) <= 1e-5


def test_nothing_is_too_little_where_prompts_are_long() -> None:
    assert least_busy(3.0) == 0.0


def test_agrees_with_a_queue_played_request_by_request() -> None:
    chance, busy, left = random.Random(7), 0.5, 6.0  # noqa: S311
    wait, late, count = 0.0, 0, 200_000
    for _ in range(count):
        wait = max(0.0, wait + chance.expovariate(1.0) - chance.expovariate(busy))
        late += wait > left
    assert late / count == pytest.approx(late_share(busy, left), rel=0.1)
