"""How a change reaches the replicas, by what is free and what serves."""

import dataclasses

import pytest

from llmservice.converging.free_devices import NO_RIGHT, Room, Uncounted
from llmservice.converging.rollout_choice import (
    Expected,
    RolloutChoice,
    Serving,
    after_no_place,
    choose,
    choose_replacing,
)
from llmservice.planning.service_plan import RolloutPlan, ServicePlan
from tests.unit.converging.devices import GPU
from tests.unit.converging.plans import a_plan

MEASURED = Expected(start_seconds=220.0, budget_seconds=900)
UNMEASURED = Expected(start_seconds=None, budget_seconds=900)
FREE = Room(needs={GPU: 1}, total=4, free=1, node="n1", missing=0, released=True)
FULL = Room(needs={GPU: 1}, total=4, free=0, node="", missing=1, released=True)
ELSEWHERE = Room(needs={GPU: 1}, total=0, free=0, node="", missing=1, released=False)


def plan(*, allow_downtime: bool = True, surge: int = 0) -> ServicePlan:
    rollout = RolloutPlan(
        max_surge=surge,
        max_unavailable=1 - surge,
        progress_deadline_seconds=900,
        by_free_devices=True,
        allow_downtime=allow_downtime,
    )
    return a_plan(rollout=rollout)


def chosen(
    room: Room | Uncounted, desired: int = 1, ready: int = 1, *, allow: bool = True, expected: Expected = MEASURED
) -> RolloutChoice:
    return choose(plan(allow_downtime=allow), Serving(desired=desired, ready=ready), room, expected)


@pytest.mark.parametrize("allow", [True, False])
@pytest.mark.parametrize("desired", [1, 3])
def test_one_more_comes_first_where_there_is_room(desired: int, *, allow: bool) -> None:
    choice = chosen(FREE, desired, desired, allow=allow)
    assert choice.strategy == "Surge"
    assert "1 of 4 L4" in choice.message


def test_without_room_one_replica_is_replaced_in_place_and_the_gap_is_told() -> None:
    choice = chosen(FULL)
    assert (choice.strategy, "3m40s" in choice.message) == ("Replace", True)
    assert "15m00s" in chosen(FULL, expected=UNMEASURED).message


@pytest.mark.parametrize("allow", [True, False])
def test_several_replicas_are_replaced_in_place_while_the_others_serve(*, allow: bool) -> None:
    choice = chosen(FULL, 3, 3, allow=allow)
    assert (choice.strategy, "2 of 3" in choice.message) == ("Replace", True)


def test_without_downtime_the_last_replica_stays_until_there_is_room() -> None:
    choice = chosen(dataclasses.replace(FULL, missing=2), allow=False)
    assert choice.strategy is None
    assert "2 more nvidia.com/gpu (L4)" in choice.message


@pytest.mark.parametrize("allow", [True, False])
def test_replicas_that_would_make_no_room_are_not_taken_away(*, allow: bool) -> None:
    assert chosen(ELSEWHERE, allow=allow).strategy == "Surge"


@pytest.mark.parametrize("room", [FREE, FULL, ELSEWHERE, NO_RIGHT])
@pytest.mark.parametrize("serving", [(1, 0), (0, 0), (0, 1)])
def test_what_does_not_serve_is_replaced_in_place_without_a_word(
    room: Room | Uncounted, serving: tuple[int, int]
) -> None:
    assert chosen(room, *serving, allow=False) == RolloutChoice(strategy="Replace")


def test_what_cannot_be_counted_is_replaced_in_place_unless_nothing_would_serve() -> None:
    assert [
        chosen(NO_RIGHT, desired, allow=allow).strategy for desired, allow in ((1, True), (2, False), (1, False))
    ] == [
        "Replace",
        "Replace",
        "Surge",
    ]


def test_a_replica_without_a_place_is_given_the_place_of_another_unless_none_would_serve() -> None:
    one, two = Serving(desired=1, ready=1), Serving(desired=2, ready=2)
    switched = after_no_place(plan(), one, "no place for 21 s", MEASURED)
    assert switched is not None
    assert (switched.strategy, "21 s" in switched.message, "3m40s" in switched.message) == ("Replace", True, True)
    assert after_no_place(plan(allow_downtime=False), one, "no place for 21 s", MEASURED) is None
    assert after_no_place(plan(allow_downtime=False), two, "no place", MEASURED) is not None


def test_an_explicit_replace_of_the_only_replica_waits_without_downtime() -> None:
    one = Serving(desired=1, ready=1)
    held = choose_replacing(plan(allow_downtime=False), one)
    assert held is not None
    assert held.strategy is None
    assert "spec.rollout.strategy" in held.message
    assert choose_replacing(plan(), one) is None
    assert choose_replacing(plan(allow_downtime=False, surge=1), one) is None
    assert choose_replacing(plan(allow_downtime=False), Serving(desired=2, ready=2)) is None
    assert choose_replacing(plan(allow_downtime=False), Serving(desired=1, ready=0)) is None
