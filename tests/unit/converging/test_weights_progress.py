"""How far a download is: in per cent, in time, and in few changes of what is said."""

from itertools import pairwise

import pytest

from llmservice.converging.weights_progress import MOST_CHANGES, Pace, Received, Telling, how_far, why_slow

GB = 10**9


def paced(*samples: tuple[float, int]) -> Pace:
    pace = Pace()
    for at, done in samples:
        pace.add(at, done)
    return pace


def test_the_time_left_follows_the_pace_of_the_last_two_minutes() -> None:
    slow_then_fast = [(float(at), GB) for at in range(0, 600, 60)]
    fast = [(600.0 + at, GB + at * GB // 10) for at in range(0, 300, 10)]
    left = paced(*slow_then_fast, *fast).seconds_left(Received(fast[-1][1], 50 * GB))
    assert left == pytest.approx((50 * GB - fast[-1][1]) / (GB / 10), rel=0.1)


def test_one_sample_or_nothing_received_tells_no_time() -> None:
    received = Received(GB, 10 * GB)
    assert paced((0, GB)).seconds_left(received) is None
    assert paced((0, GB), (60, GB)).seconds_left(received) is None
    assert paced((0, GB), (60, 2 * GB)).seconds_left(Received(2 * GB, 0)) is None


def test_a_pod_that_begins_with_less_is_paced_anew() -> None:
    pace = paced((0, 5 * GB), (60, 6 * GB), (120, GB))
    assert pace.seconds_left(Received(GB, 10 * GB)) is None
    assert pace.idle_seconds(150) == 30


def test_how_long_nothing_came_counts_from_the_last_that_did() -> None:
    assert paced((0, 1), (10, 2), (50, 2)).idle_seconds(80) == 70
    assert Pace().idle_seconds(1000) == 0


@pytest.mark.parametrize(
    ("received", "left", "said"),
    [
        (Received(61_200_000_000, 141_100_000_000), 840.0, "61.2 of 141.1 GB (43 %), about 14 min left"),
        (Received(5_000_000, 20_000_000), None, "5 of 20 MB (25 %)"),
        (Received(3 * GB, 0), None, "3.0 GB so far"),
        (Received(3 * GB, 2 * GB), 0.0, "3.0 of 2.0 GB (100 %), about 1 s left"),
    ],
)
def test_it_is_told_in_the_unit_of_the_model(received: Received, left: float | None, said: str) -> None:
    assert how_far(received, left) == said


def test_slow_is_what_stands_still_or_takes_more_than_six_hours() -> None:
    received = Received(GB, 100 * GB)
    assert why_slow(received, 59, 100.0) == ""
    assert why_slow(received, 61, None)
    assert why_slow(received, 0, 6.5 * 3600)


@pytest.mark.parametrize("changes", [1, 2, 7])
def test_whatever_happens_the_message_changes_a_bounded_number_of_times(changes: int) -> None:
    telling, said = Telling(), set()
    for step in range(10_000):
        stage = f"stage {step % changes}"
        said.add(telling.tell(stage, step / 10_000, f"{stage} {step}"))
    assert len(said) <= MOST_CHANGES + 1


def test_in_steps_of_a_twentieth_or_so() -> None:
    telling = Telling()
    told = [telling.tell("loading", percent / 100, f"{percent} %") for percent in range(101)]
    seen = sorted({int(text.split()[0]) for text in told})
    assert max(after - before for before, after in pairwise(seen)) <= 7
