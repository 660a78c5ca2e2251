"""Pauses between two tries."""

from llmservice.pauses import backoff, jittered


def test_each_failure_doubles_the_pause_up_to_the_longest() -> None:
    assert [backoff(failures, 0.5, 6.0) for failures in (0, 1, 2, 3, 4, 10_000)] == [0.5, 1.0, 2.0, 4.0, 6.0, 6.0]


def test_jitter_only_shortens_a_pause_and_by_no_more_than_its_spread() -> None:
    chances = iter((0.0, 0.5, 1.0))
    assert [jittered(10.0, 0.2, lambda: next(chances)) for _ in range(3)] == [8.0, 9.0, 10.0]
    assert all(5.0 <= jittered(10.0) <= 10.0 for _ in range(100))
