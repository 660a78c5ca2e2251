"""Fair shares: turns by tenant, a bound on what one holds, a pace for what never ends."""

import asyncio
from collections import Counter, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmservice.fairness import FairShare, FairSlots, Pace

SLOTS = 16


def filled(**waiting: int) -> FairShare[str, int]:
    share: FairShare[str, int] = FairShare()
    for tenant, count in waiting.items():
        for number in range(count):
            share.wait(tenant, number)
    return share


def held_of(share: FairShare[str, int], slots: int = SLOTS) -> Counter[str]:
    """Who holds how many once nobody may have another."""
    held: Counter[str] = Counter()
    while turn := share.next(slots - held.total()):
        held[turn[0]] += 1
    return held


def test_tenants_take_turns_and_each_keeps_its_order() -> None:
    share = filled(a=3, b=2)
    taken = []
    for _ in range(5):
        turn = share.next(SLOTS)
        assert turn is not None
        taken.append(turn)
        share.release(turn[0])
    assert taken == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    assert len(share) == 0


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


def test_a_newcomer_finds_a_slot_while_others_hold_theirs_for_ever() -> None:
    share = filled(a=1000)
    held = held_of(share)
    share.wait("b", 0)
    assert share.next(SLOTS - held.total()) == ("b", 0)


def test_a_tenant_that_gave_back_may_hold_again() -> None:
    share = filled(a=99)
    held = held_of(share)
    share.release("a")
    assert share.next(SLOTS - held.total() + 1) == ("a", 12)


def test_who_goes_away_is_not_called() -> None:
    share = filled(a=2, b=1)
    share.leave("a", 0)
    share.leave("b", 0)
    assert (share.next(SLOTS), share.next(SLOTS), len(share)) == (("a", 1), None, 0)


@given(st.lists(st.sampled_from("abcde"), max_size=60), st.integers(1, 20))
def test_everybody_is_served_in_order_and_nobody_waits_longer_than_one_round(order: list[str], slots: int) -> None:
    share: FairShare[str, int] = FairShare()
    for number, tenant in enumerate(order):
        share.wait(tenant, number)
    served: dict[str, list[int]] = {}
    under_way: deque[str] = deque()
    since: Counter[str] = Counter()
    while len(share) or under_way:
        turn = share.next(slots - len(under_way))
        if turn is None:
            share.release(under_way.popleft())
            continue
        tenant, item = turn
        under_way.append(tenant)
        served.setdefault(tenant, []).append(item)
        since = Counter({other: since[other] + 1 for other in set(order)})
        since[tenant] = 0
        waits = {other: since[other] for other in set(order) if len(served.get(other, ())) < order.count(other)}
        # Passed over only while it holds a slot: that ends with the next round of what is under way.
        assert max(waits.values(), default=0) <= len(set(order)) + slots
    assert served == {tenant: [n for n, other in enumerate(order) if other == tenant] for tenant in set(order)}


async def test_slots_are_held_by_so_many_at_once_and_a_newcomer_is_next() -> None:
    slots: FairSlots[str] = FairSlots(4)
    gate, order, at_once = asyncio.Event(), [], []

    async def read(tenant: str) -> None:
        async with slots.turn(tenant):
            order.append(tenant)
            at_once.append(4 - slots.free)
            await gate.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(read("a"))
        await asyncio.sleep(0)
        group.create_task(read("b"))
        await asyncio.sleep(0.01)
        assert order == ["a", "a", "a", "b"]
        gate.set()
    assert (len(order), max(at_once), slots.free) == (21, 4, 4)


async def test_who_gives_up_waiting_or_working_leaves_nothing_behind() -> None:
    slots: FairSlots[str] = FairSlots(1)

    async def hold() -> None:
        async with slots.turn("a"):
            await asyncio.sleep(60)

    holder, waiter = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0)
    for task in (waiter, holder):
        task.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    async with slots.turn("b"):
        assert slots.free == 0
    assert slots.free == 1


def test_a_burst_goes_on_at_once_and_then_one_each_interval() -> None:
    pace: Pace[str] = Pace(burst=3, seconds=2.0)
    gone = []
    for tenth in range(200):
        now = tenth / 10
        if pace.pause("a", now) == 0:
            pace.count("a", now)
            gone.append(now)
    assert gone[:5] == [0.0, 0.1, 0.2, 2.0, 4.0]
    assert len(gone) == 3 + 9
    assert pace.pause("b", 20.0) == 0


def test_keys_that_have_rested_are_not_remembered() -> None:
    pace: Pace[int] = Pace(burst=1, seconds=1.0)
    for key in range(10_000):
        pace.count(key, float(key))
    assert len(pace._full_at) < 2048


async def test_many_that_give_up_at_once_are_not_called() -> None:
    slots: FairSlots[str] = FairSlots(4)

    async def hold() -> None:
        async with slots.turn("a"):
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(hold()) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(error) for error in ended} == {asyncio.CancelledError}
    assert (slots.free, len(slots._share)) == (4, 0)
