"""Back-off of repairs: how often a contested object is written, and when the contest is over."""

from itertools import pairwise

import pytest

from llmservice.converging.repairs import Repairs, after_write, still_known
from llmservice.objects.references import Ref

CHAT = Ref("Service", "ml", "chat")


def writes(seconds: float, *, intent: str = "same", gap: float = 0.05) -> list[float]:
    """When a child is written that somebody changes again `gap` seconds after every write."""
    known: Repairs | None = None
    now, written = 0.0, []
    while now <= seconds:
        wait = known.seconds_to_wait(intent, now) if known else 0.0
        if known and wait:
            known, now = known.waits("somebody"), now + wait
        else:
            written.append(now)
            known, now = after_write(known, intent, now), now + gap
    return written


def test_a_fighting_writer_gets_at_most_four_writes_in_any_minute() -> None:
    times = writes(3600)
    assert max(sum(start <= time < start + 60 for time in times) for start in times) == 4
    assert len(times) < 20


def test_three_edits_in_a_row_are_taken_back_at_once() -> None:
    assert writes(1)[:3] == [0.0, 0.05, 0.1]


def test_the_pauses_have_an_end() -> None:
    times = writes(7200)
    assert times[-1] - times[-2] == pytest.approx(300, abs=1)


def test_edits_that_come_more_rarely_are_always_taken_back_at_once() -> None:
    times = writes(3600, gap=70)
    assert {round(later - earlier) for earlier, later in pairwise(times)} == {70}


def test_another_intent_is_written_at_once() -> None:
    known = None
    for _ in range(5):
        known = after_write(known, "first", 0.0)
    assert known is not None
    assert known.seconds_to_wait("first", 1.0) > 0
    assert known.seconds_to_wait("second", 1.0) == 0
    assert after_write(known, "second", 1.0).count == 1


def test_what_is_calm_is_forgotten_and_what_is_wanted_is_not() -> None:
    known = after_write(None, "same", 0.0)
    assert still_known({CHAT: known}, {CHAT}, 61.0) == {CHAT: known}
    assert still_known({CHAT: known}, (), 59.0) == {CHAT: known}
    assert still_known({CHAT: known}, (), 61.0) == {}
