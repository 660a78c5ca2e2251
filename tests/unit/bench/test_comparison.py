"""Two services on one load: what is a difference, what is noise, and what the decision says."""

import random
from collections.abc import Sequence

from llmservice.autoscaling.policy import Objective
from llmservice.bench.comparison import Comparison, as_text, compared, decision
from llmservice.bench.records import Record
from llmservice.bench.report import report_of
from llmservice.bench.scenarios import sweep, usual_turn
from tests.unit.bench.builders import a_record

LOAD = sweep((1,), requests=64, turn=usual_turn(100, 11))
NAMES = ("left", "right")


def some(first: float, *, seed: int, spread: float = 0.2, count: int = 64) -> list[Record]:
    """Requests whose first token comes after about so many seconds, the others half a second later."""
    chance = random.Random(seed)  # noqa: S311  (the same again)
    firsts = [first * (1 + chance.uniform(-spread, spread)) for _ in range(count)]
    return [a_record(at=float(place), first=at, seconds=at + 0.5) for place, at in enumerate(firsts)]


def judged(left: Sequence[Record], right: Sequence[Record]) -> Comparison:
    first, second = (report_of("x", "m", LOAD, records, Objective()) for records in (left, right))
    return compared((first, second), (left, right), NAMES)


def test_a_clear_difference_has_a_winner_and_its_size() -> None:
    first = judged(some(0.8, seed=1), some(0.4, seed=2)).verdicts[0]
    assert (first.quantity, first.winner) == ("time to first token", 1)
    assert 1.8 < first.ratio < 2.2


def test_a_difference_within_the_spread_is_noise() -> None:
    verdicts = judged(some(0.50, seed=1, spread=0.6), some(0.51, seed=2, spread=0.6)).verdicts
    assert verdicts[0].winner is None


def test_a_trifle_is_no_difference_however_certain() -> None:
    verdicts = judged(some(0.500, seed=1, spread=0.001), some(0.505, seed=2, spread=0.001)).verdicts
    assert verdicts[0].winner is None


def test_of_a_few_requests_nothing_is_said() -> None:
    assert judged(some(0.8, seed=1, count=4), some(0.4, seed=2, count=4)).verdicts[0].winner is None


def test_the_decision_names_who_is_better_at_what() -> None:
    told = decision(judged(some(0.8, seed=1), some(0.4, seed=2)))
    assert "right is better: time to first token 48% shorter" in told
    assert "within noise: time per further token" in told


def test_failed_requests_are_told_beside_it() -> None:
    failing = [*some(0.4, seed=2), a_record(error="503 Busy")]
    assert "failed requests: 0 and 1" in decision(judged(some(0.8, seed=1), failing))


def test_what_only_one_answered_decides_nothing() -> None:
    comparison = judged(some(0.8, seed=1), [a_record(error="refused")])
    assert comparison.verdicts == ()
    assert as_text(comparison).endswith("no phase was answered by both")
