"""A fair queue: whoever holds the fewest slots is next, and nobody holds all that others may want."""

from collections import Counter, deque
from collections.abc import Sized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmservice.fairness.fair_queue import FairQueue

SLOTS = 16


def filled(**waiting: int) -> FairQueue[str, int]:
    queue: FairQueue[str, int] = FairQueue()
    for tenant, count in waiting.items():
        for number in range(count):
            queue.add(tenant, number)
    return queue


def held_of(queue: FairQueue[str, int], slots: int = SLOTS) -> Counter[str]:
    """Who holds how many once nobody may have another."""
    held: Counter[str] = Counter()
    while turn := queue.next(slots - queue.held):
        held[turn[0]] += 1
    return held


def test_tenants_take_turns_and_each_keeps_its_order() -> None:
    queue = filled(a=3, b=2)
    taken = []
    for _ in range(5):
        turn = queue.next(SLOTS)
        assert turn is not None
        taken.append(turn)
        queue.release(turn[0])
    assert taken == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    assert len(queue) == 0


def test_next_is_who_holds_the_fewest_however_many_wait() -> None:
    assert held_of(filled(many=50, few=2), 4) == {"few": 1, "many": 2}
    queue = filled(many=50, few=2)
    granted = [queue.next(1, leave_room=False) for _ in range(5)]
    assert [tenant for tenant, _ in filter(None, granted)] == ["many", "few", "many", "few", "many"]


def test_a_slot_that_is_given_back_goes_to_who_holds_fewer() -> None:
    queue = filled(many=10)
    for _ in range(4):
        queue.next(1, leave_room=False)
    queue.add("few", 0)
    queue.release("many")
    assert queue.next(1) == ("few", 0)


@pytest.mark.parametrize(
    ("slots", "waiting", "held"),
    [
        (1, {"a": 99}, {"a": 1}),
        (2, {"a": 99}, {"a": 1}),
        (4, {"a": 99}, {"a": 3}),
        (16, {"a": 99}, {"a": 12}),
        (16, {"a": 99, "b": 99}, {"a": 7, "b": 6}),
        (16, {"a": 99, "b": 1}, {"a": 11, "b": 1}),
    ],
)
def test_a_tenant_holds_at_most_three_times_what_it_leaves_free(
    slots: int, waiting: dict[str, int], held: dict[str, int]
) -> None:
    assert held_of(filled(**waiting), slots) == held


def test_without_a_spare_slot_the_second_tenant_may_hold_the_last_but_one() -> None:
    queue: FairQueue[str, int] = FairQueue(times_free=1.0, spare=0)
    for number in range(9):
        queue.add("a", number)
    assert held_of(queue, 6) == {"a": 3}
    for number in range(9):
        queue.add("b", number)
    assert held_of(queue, 6) == {"b": 2}


def test_without_leaving_room_one_tenant_may_hold_all() -> None:
    queue = filled(a=99)
    granted = [queue.next(free, leave_room=False) for free in (2, 1, 0)]
    assert granted == [("a", 0), ("a", 1), None]


def test_a_queue_is_shared_from_the_moment_at_which_another_tenant_asks() -> None:
    queue = filled(a=2)
    assert not queue.is_shared
    queue.add("b", 0)
    queue.leave("b", 0)
    assert queue.is_shared


def test_a_newcomer_finds_a_slot_while_others_hold_theirs_for_ever() -> None:
    queue = filled(a=1000)
    held_of(queue)
    queue.add("b", 0)
    assert queue.next(SLOTS - queue.held) == ("b", 0)


def test_a_tenant_that_gave_back_may_hold_again() -> None:
    queue = filled(a=99)
    held_of(queue)
    queue.release("a")
    assert queue.next(SLOTS - queue.held) == ("a", 12)


def test_who_goes_away_is_not_called() -> None:
    queue = filled(a=2, b=1)
    queue.leave("a", 0)
    queue.leave("b", 0)
    queue.leave("b", 0)
    assert (queue.next(SLOTS), queue.next(SLOTS), len(queue)) == (("a", 1), None, 0)


def test_a_tenant_that_is_known_comes_before_new_ones_as_often_as_it_gives_its_slot_back() -> None:
    queue: FairQueue[str, int] = FairQueue(is_new=lambda tenant: tenant != "ours")
    for number in range(3):
        queue.add(f"new-{number}", 0)
    for number in range(2):
        queue.add("ours", number)
    for number in range(2):
        assert queue.next(1) == ("ours", number)
        queue.release("ours")
    assert queue.next(1) == ("new-0", 0)


def test_nothing_is_kept_of_tenants_that_are_done() -> None:
    queue: FairQueue[int, int] = FairQueue()
    for number in range(1000):
        queue.add(number, 0)
        queue.next(1)
        queue.release(number)
    kept: tuple[Sized, ...] = (queue._lines, queue._held, queue._ranks, queue._rank_of)
    assert (queue.held, len(queue), [len(each) for each in kept]) == (0, 0, [0, 0, 0, 0])


def test_a_queue_that_is_never_empty_does_not_grow() -> None:
    queue = filled(a=2, b=2)
    for number in range(1000):
        turn = queue.next(SLOTS)
        assert turn is not None
        queue.add(turn[0], 10 + number)
        queue.release(turn[0])
    assert sum(map(len, queue._ranks.values())) == 2


@given(st.lists(st.sampled_from("abcde"), max_size=60), st.integers(1, 20))
def test_everybody_is_served_in_order_and_nobody_waits_longer_than_one_round(order: list[str], slots: int) -> None:
    queue: FairQueue[str, int] = FairQueue()
    for number, tenant in enumerate(order):
        queue.add(tenant, number)
    served: dict[str, list[int]] = {}
    under_way: deque[str] = deque()
    since: Counter[str] = Counter()
    while len(queue) or under_way:
        turn = queue.next(slots - len(under_way))
        if turn is None:
            queue.release(under_way.popleft())
            continue
        tenant, item = turn
        under_way.append(tenant)
        served.setdefault(tenant, []).append(item)
        since = Counter({other: since[other] + 1 for other in set(order)})
        since[tenant] = 0
        waits = {other: since[other] for other in set(order) if len(served.get(other, ())) < order.count(other)}
        # Passed over only while it holds more than others: that ends with the next round of what is under way.
        assert max(waits.values(), default=0) <= len(set(order)) + slots
    assert served == {tenant: [n for n, other in enumerate(order) if other == tenant] for tenant in set(order)}
