"""Room for answers: never more than there is, never stuck, and never all for one namespace."""

import asyncio
import random
from contextlib import AsyncExitStack

import pytest

from llmservice.signals.byte_budget import CONNECTION_BYTES, FIRST_BYTES, ByteBudget

MIB = 2**20


def a_budget(connections: int = 8, large_pages: int = 4) -> ByteBudget:
    return ByteBudget(page_bytes=MIB, connections=connections, large_pages=large_pages)


async def steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def hold(
    budget: ByteBudget, namespace: str, until: asyncio.Event, *, is_slow: bool = False, is_large: bool = False
) -> None:
    """Read one page, which lasts until told."""
    async with budget.connection(namespace, is_slow=is_slow), AsyncExitStack() as rest:
        if is_large:
            await rest.enter_async_context(budget.rest(namespace, is_slow=is_slow))
        await until.wait()


def test_the_whole_is_what_all_places_take() -> None:
    assert a_budget().total_bytes == 8 * CONNECTION_BYTES + 4 * (MIB - FIRST_BYTES) * 9 // 8


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_is_asked_for_in_whatever_order_all_are_served_and_nothing_is_exceeded(seed: int) -> None:
    """Everybody holds a first part and wants the rest; some are cancelled while they wait or hold."""
    chance, budget, done, most = random.Random(seed), a_budget(), 0, 0  # noqa: S311  (the same each time)

    async def one(namespace: str, *, is_slow: bool) -> None:
        nonlocal done, most
        async with budget.connection(namespace, is_slow=is_slow):
            await steps(chance.randrange(3))
            async with budget.rest(namespace, is_slow=is_slow):
                most = max(most, budget.held_bytes)
                await steps(chance.randrange(3))
        done += 1

    tasks = [
        asyncio.ensure_future(one(f"namespace-{chance.randrange(6)}", is_slow=chance.random() < 0.3))
        for _ in range(200)
    ]
    for _ in range(3000):
        await asyncio.sleep(0)
        if all(task.done() for task in tasks):
            break
        if chance.random() < 0.02:
            chance.choice(tasks).cancel()
    assert all(task.done() for task in tasks)
    assert done + sum(task.cancelled() for task in tasks) == 200
    assert done > 100
    assert most <= budget.total_bytes
    assert budget.held_bytes == 0


async def test_one_namespace_leaves_room_for_large_pages_of_another() -> None:
    budget, end = a_budget(connections=64, large_pages=8), asyncio.Event()
    tasks = [asyncio.ensure_future(hold(budget, "hostile", end, is_large=True)) for _ in range(20)]
    await steps(9)
    other = asyncio.ensure_future(hold(budget, "victim", now := asyncio.Event(), is_large=True))
    now.set()
    await steps(9)
    assert other.done()
    end.set()
    await asyncio.gather(*tasks)


async def test_slow_pods_get_a_quarter_of_the_connections_while_others_wait_and_all_when_nobody_does() -> None:
    budget, end, ends = a_budget(connections=8), asyncio.Event(), asyncio.Event()
    usual = [asyncio.ensure_future(hold(budget, "team", ends)) for _ in range(10)]
    slow = [asyncio.ensure_future(hold(budget, "team", end, is_slow=True)) for _ in range(10)]
    await steps(9)
    assert (budget._usual.held, budget._slow.held) == (6, 2)
    ends.set()
    await asyncio.gather(*usual)
    await steps(9)
    assert (budget._usual.held, budget._slow.held) == (0, 8)
    end.set()
    await asyncio.gather(*slow)


async def test_a_place_given_to_somebody_who_has_just_been_cancelled_goes_on_to_the_next() -> None:
    budget, end = a_budget(connections=1), asyncio.Event()
    first, second, third = (asyncio.ensure_future(hold(budget, "team", end)) for _ in range(3))
    await steps(9)
    first.cancel()
    await steps(1)
    second.cancel()
    end.set()
    await third
    assert budget.held_bytes == 0
    assert first.cancelled()
    assert second.cancelled()
