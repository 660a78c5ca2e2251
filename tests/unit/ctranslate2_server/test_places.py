import asyncio

import pytest

from ctranslate2_server.errors import Busy
from ctranslate2_server.places import Places


async def _hold(places: Places, release: asyncio.Event, order: list[int], number: int) -> None:
    async with places.place():
        order.append(number)
        await release.wait()


async def test_so_many_run_and_the_rest_waits_in_order() -> None:
    places, release, order = Places(2, 5), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(_hold(places, release, order, number)) for number in range(5)]
    await asyncio.sleep(0)

    assert (places.running, places.waiting, order) == (2, 3, [0, 1])
    release.set()
    await asyncio.gather(*tasks)
    assert (places.running, places.waiting, order) == (0, 0, [0, 1, 2, 3, 4])


async def test_beyond_the_queue_there_is_no_place() -> None:
    places, release = Places(1, 1), asyncio.Event()
    tasks = [asyncio.create_task(_hold(places, release, [], number)) for number in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(Busy):
        await _hold(places, release, [], 2)
    release.set()
    await asyncio.gather(*tasks)


async def test_who_leaves_the_queue_takes_no_place() -> None:
    places, release, order = Places(1, 5), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(_hold(places, release, order, number)) for number in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)

    assert places.waiting == 1
    release.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (order, places.running) == ([0, 2], 0)


async def test_a_place_given_to_who_leaves_at_that_moment_goes_on_to_the_next() -> None:
    places, release, order = Places(1, 5), asyncio.Event(), list[int]()
    first, second, third = (asyncio.create_task(_hold(places, release, order, number)) for number in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)  # its place is the second one's, who has not woken up yet
    second.cancel()
    release.set()
    await asyncio.gather(first, second, third, return_exceptions=True)

    assert (order, places.running, places.waiting) == ([0, 2], 0, 0)
