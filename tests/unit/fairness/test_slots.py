"""Slots that tasks wait for: held by so many at once, and lost by nobody who gives up."""

import asyncio

from llmservice.fairness.slots import FairSlots


async def test_slots_are_held_by_so_many_at_once_and_a_newcomer_is_next() -> None:
    slots: FairSlots[str] = FairSlots(4)
    gate, order, at_once = asyncio.Event(), [], []

    async def read(tenant: str) -> None:
        async with slots.slot(tenant):
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
        async with slots.slot("a"):
            await asyncio.sleep(60)

    holder, waiter = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0)
    for task in (waiter, holder):
        task.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    async with slots.slot("b"):
        assert slots.free == 0
    assert slots.free == 1


async def test_many_that_give_up_at_once_are_not_called() -> None:
    slots: FairSlots[str] = FairSlots(4)

    async def hold() -> None:
        async with slots.slot("a"):
            await asyncio.sleep(60)

    tasks = [asyncio.create_task(hold()) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(error) for error in ended} == {asyncio.CancelledError}
    assert (slots.free, len(slots._queue)) == (4, 0)
