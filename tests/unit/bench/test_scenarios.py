"""Loads: what each sends, when, and how many of them at once."""

import pytest

from llmservice.bench.scenarios import SCENARIOS, rate, recorded, sweep, users, usual_turn
from llmservice.simulation.request import Arrival

TURN = usual_turn(50, 20)


@pytest.mark.parametrize(
    ("name", "phases", "requests"),
    [
        ("sweep-1-9", 9, 9 * 64),
        ("ramp-100", 1, 1000),
        ("intervals", 4, 400),
        ("single-200", 9, 9),
        ("at-once", 2, 48),
    ],
)
def test_the_named_loads_are_those_that_people_know(name: str, phases: int, requests: int) -> None:
    load = SCENARIOS[name]()
    assert (load.name, len(load.phases), load.requests) == (name, phases, requests)


def test_every_named_load_is_listed_here() -> None:
    assert set(SCENARIOS) == {"sweep-1-9", "ramp-100", "intervals", "single-200", "at-once"}


def test_a_hundred_users_begin_within_ten_seconds_and_think_between_rounds() -> None:
    (phase,) = SCENARIOS["ramp-100"]().phases
    starts = [conversation.at for conversation in phase.conversations]
    assert (starts[0], len(starts)) == (0.0, 100)
    assert 9.8 < starts[-1] < 10
    assert [turn.think_seconds for turn in phase.conversations[3].turns] == [0.0, *[2.0] * 9]


def test_intervals_keep_their_distance() -> None:
    for phase, interval in zip(SCENARIOS["intervals"]().phases, (1.0, 0.5, 0.25, 0.05), strict=True):
        starts = [conversation.at for conversation in phase.conversations]
        assert starts[7] == pytest.approx(7 * interval)
        assert phase.in_flight is None


def test_a_sweep_never_asks_for_more_at_once_than_it_sends() -> None:
    load = sweep((1, 8), requests=4, turn=TURN)
    assert [(phase.in_flight, phase.requests) for phase in load.phases] == [(1, 4), (8, 8)]


def test_single_requests_are_one_run_of_the_generator() -> None:
    assert SCENARIOS["single-200"]().runs() == (tuple(range(9)),)
    assert len(SCENARIOS["sweep-1-9"]().runs()) == 9


def test_a_rate_by_chance_is_the_same_again_and_as_many_on_average() -> None:
    first, again = (rate(5, seconds=400, poisson=True, seed=3, turn=TURN) for _ in range(2))
    assert first == again
    assert 1800 < first.requests < 2200
    assert rate(5, seconds=400, poisson=False, seed=3, turn=TURN).requests == 2000


def test_users_without_rounds_ask_once() -> None:
    assert users(7, ramp_seconds=0, rounds=1, think_seconds=0, turn=TURN).requests == 7


def test_a_trace_keeps_times_and_sizes() -> None:
    (phase,) = recorded("day", [Arrival(0.0, 10, 5), Arrival(2.5, 20, 6)]).phases
    assert [(each.at, each.turns[0].prompt_tokens) for each in phase.conversations] == [(0.0, 10), (2.5, 20)]


def test_mixed_requests_have_the_same_means_and_neither_begin_nor_end_together() -> None:
    turns = [
        conversation.turns[0] for conversation in sweep([2], requests=25, turn=TURN, mixed=True).phases[0].conversations
    ]
    assert sum(turn.prompt_tokens for turn in turns) / 25 == pytest.approx(TURN.prompt_tokens, rel=0.02)
    assert sum(turn.answer_tokens for turn in turns) / 25 == pytest.approx(TURN.answer_tokens, rel=0.02)
    assert len({(turn.prompt_tokens, turn.answer_tokens) for turn in turns}) == 25
