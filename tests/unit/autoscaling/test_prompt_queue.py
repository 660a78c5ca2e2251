"""The load up to which prompts are read in time: assumed from their mean, learnt from how long they wait."""

import random

import pytest

from llmservice.autoscaling.memory import Capacity
from llmservice.autoscaling.prompt_queue import rest_seconds, with_waiting, within_ttft

FASTEST = 15_000.0


def waited(mean_wait: float, *, busy: float = 0.5, prompts: float = 5000.0, reading: float = 0.5) -> Capacity:
    """What is known after so many prompts of half a second each waited so long on average."""
    return with_waiting(
        Capacity(), prompts=prompts, ttft_seconds=prompts * (reading + mean_wait), busy=busy, reading=reading
    )


def test_short_prompts_hardly_wait() -> None:
    assert within_ttft(Capacity(), 1000.0, FASTEST, 3.0) > 0.85 * FASTEST


def test_the_longer_the_prompts_the_lower_the_load() -> None:
    loads = [within_ttft(Capacity(), tokens, FASTEST, 3.0) for tokens in (1e3, 3e3, 6e3, 1e4, 2e4)]
    assert loads == sorted(set(loads), reverse=True)


def test_prompts_longer_than_the_objective_leave_a_fifth() -> None:
    assert within_ttft(Capacity(), 1e5, FASTEST, 3.0) == pytest.approx(0.2 * FASTEST)


def test_a_stricter_objective_leaves_less() -> None:
    assert within_ttft(Capacity(), 6e3, FASTEST, 1.5) < within_ttft(Capacity(), 6e3, FASTEST, 3.0)


def test_the_rest_of_a_prompt_is_learnt_from_the_mean_wait() -> None:
    assert rest_seconds(waited(0.4), 0.5) == pytest.approx(0.4, rel=0.01)
    assert rest_seconds(waited(0.8, busy=2 / 3), 0.5) == pytest.approx(0.4, rel=0.01)


def test_few_prompts_say_little() -> None:
    assert rest_seconds(waited(5.0, prompts=1.0), 0.5) < 2 * rest_seconds(Capacity(), 0.5)


@pytest.mark.parametrize("changes", [{"prompts": 0.0}, {"busy": 0.0}, {"busy": 0.95}])
def test_a_minute_without_prompts_or_in_a_surge_teaches_nothing(changes: dict[str, float]) -> None:
    assert waited(0.4, **changes) == Capacity()


def test_long_prompts_among_short_ones_lower_the_load() -> None:
    assert within_ttft(waited(1.5), 6e3, FASTEST, 3.0) < within_ttft(waited(0.1), 6e3, FASTEST, 3.0)


def test_agrees_with_a_queue_played_request_by_request() -> None:
    chance, tokens = random.Random(7), 6000.0
    reading = tokens / FASTEST
    load = within_ttft(Capacity(residual_seconds=1e9 * reading, residual_requests=1e9), tokens, FASTEST, 3.0)
    wait, late, count = 0.0, 0, 200_000
    for _ in range(count):
        wait = max(0.0, wait + chance.expovariate(1 / reading) - chance.expovariate(load / tokens))
        late += wait > 3.0 - reading
    assert late / count == pytest.approx(0.01, rel=0.3)
