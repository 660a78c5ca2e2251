"""The page of a download's pod: two numbers, and whatever else it says costs little."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from llmservice.converging.weights_progress import Received
from llmservice.signals.download_page import read_download, received_in

PAGE = b"# HELP x y\nllmservice_download_bytes_total 6.12e+10\nllmservice_download_expected_bytes 1.411e+11\n"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[int]:
    application = web.Application()
    application.router.add_get("/metrics", handler)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def answering(body: bytes, **more: object) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, **more)  # type: ignore[arg-type]

    return answer


def test_two_numbers_are_read() -> None:
    assert received_in(PAGE) == Received(61_200_000_000, 141_100_000_000)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "1e300", "x", ""])
def test_what_can_be_no_number_of_bytes_is_not_believed(value: str) -> None:
    assert received_in(PAGE.replace(b"6.12e+10", value.encode())) is None


async def test_the_page_is_read_from_the_pod() -> None:
    async with served(answering(PAGE)) as port:
        assert await read_download("127.0.0.1", port) == Received(61_200_000_000, 141_100_000_000)


@pytest.mark.parametrize(
    "handler",
    [
        answering(PAGE * 1000),
        answering(PAGE, status=500),
        answering(b"", status=302, headers={"Location": "http://elsewhere.example/"}),
        answering(b"<html>"),
    ],
)
async def test_another_answer_is_none(handler: Handler) -> None:
    async with served(handler) as port:
        assert await read_download("127.0.0.1", port) is None


async def test_a_pod_that_does_not_answer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.signals.download_page._SECONDS", 0.05)

    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(1)
        return web.Response()

    async with served(hang) as port:
        assert await read_download("127.0.0.1", port) is None
    assert await read_download("127.0.0.1", port) is None
