"""The long polls: one to each activator, none that delays another, and none where no service may sleep."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from llmservice.reconcilers.activation.activators import Control, FixedActivators
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.activation.polling import Polling

PORT = 20_007


@asynccontextmanager
async def an_activator(answer: Callable[[web.Request], object]) -> AsyncIterator[Control]:
    """One on loopback that answers so."""

    async def handler(request: web.Request) -> web.StreamResponse:
        said = answer(request)
        if said is None:
            await asyncio.sleep(3600)
        return web.json_response(said)

    application = web.Application()
    application.router.add_get("/held", handler)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield Control("127.0.0.1", runner.addresses[0][1])
    finally:
        await runner.cleanup()


@asynccontextmanager
async def polled(*controls: Control, wanted: bool = True) -> AsyncIterator[tuple[FixedActivators, HeldRequests]]:
    activators, held = FixedActivators(frozenset(controls)), HeldRequests()
    task = asyncio.create_task(Polling(activators=activators, held=held, wanted=lambda: wanted).run())
    try:
        yield activators, held
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  (nothing tells)
            await asyncio.sleep(0.01)


def holding(request: web.Request) -> object:
    """Two requests; the next question waits."""
    return None if request.query["version"] else {"version": "1", "ports": {str(PORT): {"held": 2}}}


async def test_a_hanging_activator_delays_no_other() -> None:
    async with (
        an_activator(lambda _: None) as silent,
        an_activator(holding) as one,
        polled(silent, one) as (activators, held),
    ):
        await until(lambda: held.at(PORT) == 2)
        assert {each.address for each in activators.ready()} == {"127.0.0.1"}


async def test_one_that_answers_nonsense_holds_nothing_and_is_not_ready() -> None:
    asked: list[str] = []

    def nonsense(request: web.Request) -> object:
        asked.append(request.query["version"])
        return ["no page"]

    async with an_activator(nonsense) as control, polled(control) as (activators, held):
        await until(lambda: len(asked) >= 3)
        assert (held.at(PORT), activators.ready()) == (0, frozenset())


async def test_one_that_fails_later_is_forgotten() -> None:
    answers = iter([{"version": "1", "ports": {str(PORT): {"held": 2}}}])
    async with (
        an_activator(lambda _: next(answers, ["gone"])) as control,
        polled(control) as (activators, held),
    ):
        await until(lambda: bool(activators.ready()))
        await until(lambda: not activators.ready())
        assert held.at(PORT) == 0


async def test_where_no_service_may_sleep_nobody_is_asked() -> None:
    asked: list[str] = []
    async with an_activator(lambda request: asked.append(request.path)) as control, polled(control, wanted=False):
        for _ in range(20):
            await asyncio.sleep(0.01)
    assert asked == []
