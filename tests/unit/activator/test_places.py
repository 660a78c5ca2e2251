"""Who is held and who gives way, under any order of coming and going."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmservice.activator.places import Full, Places

SERVICES = ["a", "b", "c", "d"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.sampled_from(SERVICES), st.integers(0, 40)),
        st.tuples(st.just("leave"), st.sampled_from(SERVICES), st.integers(0, 100)),
    ),
    max_size=120,
)


class Model:
    """Plays steps, and keeps its own books: tickets of each service in order, with their bytes."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self.places: Places[str, int] = Places(most, most_bytes)
        self.of: dict[str, dict[int, int]] = {service: {} for service in SERVICES}
        self.number = 0

    def play(self, step: tuple[str, str, int]) -> None:
        verb, service, size = step
        if verb == "leave":
            tickets = list(self.of[service])
            if tickets:
                ticket = tickets[size % len(tickets)]
                assert self.places.leave(service, ticket)
                del self.of[service][ticket]
            return
        self.number += 1
        gone = self.places.take(service, self.number, size)
        self.of[service][self.number] = size
        for ticket in gone:
            owner = next(each for each in SERVICES if ticket in self.of[each])
            assert owner != service
            assert ticket == list(self.of[owner])[-1] or ticket in list(self.of[owner])[-len(gone) :]
            del self.of[owner][ticket]

    def tried(self, step: tuple[str, str, int]) -> bool:
        try:
            self.play(step)
        except Full:
            return False
        return True


@given(STEPS, st.integers(1, 12), st.integers(40, 200))
def test_never_above_the_bounds_and_nobody_is_lost(steps: list[Any], most: int, most_bytes: int) -> None:
    model = Model(most, most_bytes)
    for step in steps:
        model.tried(step)
        held = {service: len(tickets) for service, tickets in model.of.items()}
        assert {service: model.places.held_of(service) for service in SERVICES} == held
        assert model.places.held == sum(held.values()) <= most
        assert model.places.held_bytes == sum(sum(tickets.values()) for tickets in model.of.values()) <= most_bytes


@given(STEPS, st.integers(4, 12))
def test_whoever_has_less_than_an_equal_share_gets_a_place(steps: list[Any], most: int) -> None:
    model = Model(most, 10**9)
    for step in steps:
        verb, service, _ = step
        before = len(model.of[service])
        others = sum(bool(tickets) for other, tickets in model.of.items() if other != service)
        done = model.tried(step)
        if verb == "take" and before < most // (others + 1):
            assert done


@given(STEPS, st.integers(160, 200))
def test_whoever_needs_less_than_an_equal_share_of_the_bytes_gets_a_place(steps: list[Any], most_bytes: int) -> None:
    model = Model(10**6, most_bytes)
    for step in steps:
        verb, service, size = step
        after = sum(model.of[service].values()) + size
        others = sum(bool(tickets) for other, tickets in model.of.items() if other != service)
        done = model.tried(step)
        if verb == "take" and after <= most_bytes // (others + 1):
            assert done


@given(STEPS, st.integers(1, 12))
def test_one_who_gave_way_had_more_than_who_came(steps: list[Any], most: int) -> None:
    model = Model(most, 10**9)
    for step in steps:
        before = Counter({service: len(tickets) for service, tickets in model.of.items()})
        model.tried(step)
        after = Counter({service: len(tickets) for service, tickets in model.of.items()})
        if step[0] == "take":
            for loser in (each for each in SERVICES if after[each] < before[each]):
                assert after[loser] >= after[step[1]]


def test_one_service_alone_may_take_all() -> None:
    places: Places[str, int] = Places(3, 100)
    assert [places.take("a", number, 10) for number in range(3)] == [(), (), ()]
    with pytest.raises(Full):
        places.take("a", 3, 10)
    assert places.oldest_of("a") == 0


def test_who_came_last_to_the_service_with_most_gives_way() -> None:
    places: Places[str, int] = Places(3, 100)
    for number in range(3):
        places.take("a", number, 10)
    assert places.take("b", 9, 10) == (2,)
    with pytest.raises(Full):
        places.take("b", 10, 10)  # two against one: it would only turn round


def test_bytes_are_taken_from_several_where_one_is_not_enough() -> None:
    places: Places[str, int] = Places(10, 100)
    for number in range(10):
        places.take("a", number, 10)
    assert places.take("b", 10, 35) == (9, 8, 7, 6)
    assert places.held_bytes == 95


def test_what_has_no_place_leaves_none() -> None:
    places: Places[str, int] = Places(1, 1)
    assert not places.leave("a", 1)
    assert places.oldest_of("a") is None
