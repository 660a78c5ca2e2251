"""A page for many: made once, kept a moment, and never more than a tenth of a core."""

import asyncio
import itertools

import pytest

from llmservice.controllers.endpoints.shared_page import SharedPage


class World:
    """A clock that only making moves, by `cost` seconds."""

    def __init__(self, cost: float = 0.0) -> None:
        self.now, self.cost, self.pages = 0.0, cost, itertools.count(1)

    def make(self) -> bytes:
        self.now += self.cost
        return str(next(self.pages)).encode()

    def page(self) -> SharedPage:
        return SharedPage(make=self.make, clock=lambda: self.now)


async def test_whoever_asks_within_a_second_gets_the_same_page() -> None:
    world = World()
    page = world.page()
    assert [await page.page() for _ in range(3)] == [b"1"] * 3
    world.now += 0.9
    assert await page.page() == b"1"
    world.now += 0.2
    assert await page.page() == b"2"


@pytest.mark.parametrize(("cost", "kept"), [(0.05, 1.0), (0.5, 4.5), (60.0, 10.0)])
async def test_a_page_that_is_dear_is_kept_longer(cost: float, kept: float) -> None:
    world = World(cost)
    page = world.page()
    assert await page.page() == b"1"
    world.now += kept - 0.01
    assert await page.page() == b"1"
    world.now += 0.02
    assert await page.page() == b"2"


async def test_who_gives_up_takes_the_page_from_nobody_else() -> None:
    page = World().page()
    first, second = (asyncio.ensure_future(page.page()) for _ in range(2))
    first.cancel()
    assert await second == b"1"


async def test_after_a_failure_the_next_one_tries_again() -> None:
    answers: list[bytes | Exception] = [ZeroDivisionError(), b"good"]

    def make() -> bytes:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    page = SharedPage(make=make)
    with pytest.raises(ZeroDivisionError):
        await page.page()
    assert await page.page() == b"good"
