"""The load of the tests on real engines: the number in flight holds, however fast the engine is."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.load.in_flight import InFlight

HELD = 5
END = "data: [DONE]\n\n"


@dataclass
class FakeEngine:
    """Answers the oldest of its requests each so many seconds, as soon as it holds `full` of them."""

    seconds: float
    full: int = HELD
    answer: Callable[[], web.Response] = lambda: web.Response(text=END)
    seen: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    _held: deque[asyncio.Future[None]] = field(default_factory=deque)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def handle(self, request: web.Request) -> web.Response:
        self.lengths.append((await request.json())["max_tokens"])
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        async with self._changed:
            self._held.append(turn)
            self._changed.notify_all()
        await turn
        return self.answer()

    async def work(self) -> None:
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: len(self._held) >= self.full)
            await asyncio.sleep(self.seconds)
            self.seen.append(len(self._held))
            self._held.popleft().set_result(None)

    async def answer_from(self, full: int) -> None:
        """Answer as soon as it holds so many, from now on."""
        async with self._changed:
            self.full = full
            self._changed.notify_all()

    async def answered(self, count: int) -> None:
        """Until it has answered so many more."""
        count += len(self.seen)
        while len(self.seen) < count:  # noqa: ASYNC110  (looked at, nothing announces it)
            await asyncio.sleep(0.005)


@asynccontextmanager
async def serving(engine: FakeEngine) -> AsyncIterator[str]:
    """Its address; a test never hangs with it."""
    application = web.Application()
    application.router.add_post("/v1/chat/completions", engine.handle)
    server = TestServer(application)
    await server.start_server(shutdown_timeout=0.01)
    working = asyncio.create_task(engine.work())
    try:
        async with asyncio.timeout(30):
            yield str(server.make_url("")).rstrip("/")
    finally:
        working.cancel()
        await server.close()


@asynccontextmanager
async def loaded(load: InFlight, engine: FakeEngine) -> AsyncIterator[InFlight]:
    """The load as long as the block runs; then the engine answers what is left."""
    load.__enter__()
    try:
        yield load
    finally:
        load.hold(0)
        await engine.answer_from(1)
        await asyncio.to_thread(load.__exit__)


@pytest.mark.parametrize("seconds", [0.002, 0.02], ids=["fast", "ten times slower"])
async def test_the_number_in_flight_holds_at_any_speed(seconds: float) -> None:
    engine = FakeEngine(seconds)
    async with serving(engine) as address, loaded(InFlight(address, HELD, max_tokens=7), engine) as load:
        await engine.answered(60)  # it goes on only when as many are there again
        measured = load.measured()
        assert set(engine.seen) == {HELD}
        assert HELD - 1 <= measured["requestsInFlightNow"] <= HELD
        assert HELD - 1 <= measured["requestsInFlightOnAverage"] <= HELD
        assert (measured["answered"], measured["failures"]) == (pytest.approx(60, abs=HELD), [])
    assert set(engine.lengths) == {7}
    assert load.failed == []
    assert len(load.outcomes) == len(engine.seen)


async def test_another_number_is_held_from_then_on() -> None:
    engine = FakeEngine(0.002, full=2)
    async with serving(engine) as address, loaded(InFlight(address, 2), engine) as load:
        await engine.answered(10)
        await engine.answer_from(HELD)
        load.hold(HELD)
        await engine.answered(10)
        assert set(engine.seen) == {2, HELD}
        await engine.answer_from(2)
        load.hold(2)
        await engine.answered(10)
        assert engine.seen[-1] == 2


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda: web.Response(status=503, text="overloaded"), "503 cut: overloaded"),
        (lambda: web.Response(text="data: {}"), "200 cut: data: {}"),
    ],
    ids=["refused", "cut"],
)
async def test_what_is_no_whole_answer_is_a_failure(answer: Callable[[], web.Response], told: str) -> None:
    engine = FakeEngine(0.002, answer=answer)
    async with serving(engine) as address, loaded(InFlight(address, HELD, pause_seconds=0.01), engine) as load:
        await engine.answered(1)
    assert {outcome.answer for outcome in load.failed} == {told}
    assert load.measured()["failures"][:1] == [told]


async def test_an_address_that_nobody_listens_at_is_a_failure() -> None:
    with InFlight("http://127.0.0.1:9", 1, pause_seconds=0.01) as load:
        while not load.failed:  # noqa: ASYNC110  (looked at, nothing announces it)
            await asyncio.sleep(0.005)
    assert {outcome.answer.partition(":")[0] for outcome in load.failed} == {"ClientConnectorError"}
