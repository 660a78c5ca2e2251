"""Readers by token: never one for two, few in all, and no flood displaces those who look."""

import asyncio
from typing import Any

import pytest

from llmservice.errors import TooMuch, Unauthorized
from llmservice.ui.callers import Callers


class FakeReader:
    """Knows whose it is; `answers` False: the API server does not say yes."""

    def __init__(self, token: str, namespace: str) -> None:
        self.token, self.namespace, self.was_answered = token, namespace, not token.startswith("bad")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made() -> list[FakeReader]:
    return []


@pytest.fixture
def callers(clock: Clock, made: list[FakeReader]) -> Callers:
    def reader_of(token: str, namespace: str) -> Any:
        made.append(FakeReader(token, namespace))
        return made[-1]

    return Callers(reader_of=reader_of, clock=clock)


async def whose(reader: Any) -> tuple[str, str]:
    return reader.token, reader.namespace


async def unknown(reader: Any) -> str:
    raise Unauthorized("Unauthorized", f"{reader.token} is not known")


async def test_each_token_and_namespace_has_a_reader_of_its_own(callers: Callers, made: list[FakeReader]) -> None:
    for _ in range(3):
        assert await callers.ask("a", "1.1.1.1", "", whose) == ("a", "")
        assert await callers.ask("b", "1.1.1.1", "", whose) == ("b", "")
        assert await callers.ask("a", "1.1.1.1", "ml", whose) == ("a", "ml")
    assert len(made) == 3


async def test_a_token_that_is_not_known_any_more_loses_all_that_was_read_with_it(callers: Callers) -> None:
    for namespace in ("", "ml"):
        await callers.ask("a", "1.1.1.1", namespace, whose)
    await callers.ask("b", "1.1.1.1", "", whose)
    with pytest.raises(Unauthorized):
        await callers.ask("a", "1.1.1.1", "", unknown)
    assert len(callers) == 1


async def test_a_flood_of_invented_tokens_is_rationed_and_displaces_nobody(callers: Callers, clock: Clock) -> None:
    await callers.ask("good", "2.2.2.2", "", whose)
    asked = 0
    for number in range(500):
        try:
            await callers.ask(f"bad-{number}", "1.1.1.1", "", unknown)
        except TooMuch:
            continue
        except Unauthorized:
            asked += 1
    assert asked == 20
    assert len(callers) == 1
    clock.now += 1.0
    assert await callers.ask("good", "1.1.1.1", "", whose) == ("good", "")


async def test_what_the_api_server_never_answered_is_not_kept(callers: Callers) -> None:
    assert await callers.ask("bad", "1.1.1.1", "", whose) == ("bad", "")
    assert len(callers) == 0


async def test_the_number_of_readers_and_their_time_is_bounded(callers: Callers, clock: Clock) -> None:
    for number in range(200):
        clock.now += 1.0
        await callers.ask(f"t{number}", "1.1.1.1", "", whose)
    assert len(callers) == 64
    clock.now += 598.0
    await callers.ask("t199", "1.1.1.1", "", whose)
    assert len(callers) == 2
    clock.now += 601.0
    await callers.ask("t1", "1.1.1.1", "", whose)
    assert len(callers) == 1


async def test_one_caller_takes_two_places_and_no_more(callers: Callers) -> None:
    held = asyncio.Event()

    async def slow(reader: Any) -> str:
        await held.wait()
        return str(reader.token)

    running = [asyncio.create_task(callers.ask("a", "1.1.1.1", "", slow)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(TooMuch):
        await callers.ask("a", "1.1.1.1", "", whose)
    assert await callers.ask("b", "1.1.1.1", "", whose) == ("b", "")
    held.set()
    assert await asyncio.gather(*running) == ["a", "a"]
    assert await callers.ask("a", "1.1.1.1", "", whose) == ("a", "")


async def test_no_caller_asks_without_end(callers: Callers) -> None:
    for _ in range(40):
        await callers.ask("a", "1.1.1.1", "", whose)
    with pytest.raises(TooMuch):
        await callers.ask("a", "1.1.1.1", "", whose)
