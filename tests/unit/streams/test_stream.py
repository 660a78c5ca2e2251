"""The judgement of a stream: complete, truncated or refused, by what a server really sends."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.ports import free_port
from tests.streams.audience import Audience
from tests.streams.results import Row, row_of, table
from tests.streams.stream import Ending, Stream

TOKENS = 3
WORDS = [{"choices": [{"delta": {"content": word}, "finish_reason": None}]} for word in "abc"]
LAST = {"choices": [{"delta": {}, "finish_reason": "length"}]}
USAGE = {"choices": [], "usage": {"completion_tokens": TOKENS}}
WHOLE = [*map(json.dumps, [*WORDS, LAST, USAGE]), "[DONE]"]


async def judged(events: Sequence[str], *, cut: bool = False, status: int = 200) -> Stream:
    """A stream from a server that sends these events, and then ends the answer, or only the connection."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status)
        await response.prepare(request)
        for event in events:
            await response.write(f"data: {event}\n\n".encode())
        if cut:
            assert request.transport is not None
            request.transport.abort()
        return response

    app = web.Application()
    app.router.add_post("/", answer)
    async with TestServer(app) as server, aiohttp.ClientSession() as session:
        stream = Stream(tokens=TOKENS)
        await stream.follow(session, str(server.make_url("/")), {})
    return stream


async def test_a_whole_answer_is_complete() -> None:
    stream = await judged(WHOLE)
    assert (stream.ending, stream.problem) == (Ending.COMPLETE, "")
    assert not stream.is_streaming


@pytest.mark.parametrize(
    "events",
    [WHOLE[:2], WHOLE[:-1], [*WHOLE[:3], *WHOLE[4:]], [*WHOLE[:-2], json.dumps({"usage": {"completion_tokens": 2}})]],
    ids=["in the middle", "without its end", "without a finish reason", "a token short"],
)
async def test_an_answer_that_ends_early_is_truncated_although_the_connection_ends_well(events: list[str]) -> None:
    stream = await judged(events)
    assert stream.ending is Ending.TRUNCATED
    assert stream.problem


@pytest.mark.parametrize("events", [[], WHOLE[:2]], ids=["before the first token", "after some"])
async def test_a_connection_that_breaks_is_truncated(events: list[str]) -> None:
    assert (await judged(events, cut=True)).ending is Ending.TRUNCATED


async def test_an_error_among_the_events_is_truncated() -> None:
    stream = await judged([*WHOLE[:2], json.dumps({"error": {"message": "slot lost"}}), *WHOLE[2:]])
    assert stream.ending is Ending.TRUNCATED
    assert "slot lost" in stream.problem


async def test_a_server_that_is_not_ready_refuses() -> None:
    assert (await judged([], status=503)).ending is Ending.REFUSED


async def test_a_port_on_which_nobody_listens_refuses() -> None:
    stream = Stream(tokens=TOKENS)
    async with aiohttp.ClientSession() as session:
        await stream.follow(session, f"http://127.0.0.1:{free_port()}/", {})
    assert stream.ending is Ending.REFUSED


@pytest.fixture
async def engine() -> AsyncIterator[str]:
    """Answers each request whole, as many tokens as were asked for, a token each 10 ms."""

    async def answer(request: web.Request) -> web.StreamResponse:
        tokens, response = (await request.json())["max_tokens"], web.StreamResponse()
        await response.prepare(request)
        for _ in range(tokens):
            await response.write(f"data: {json.dumps(WORDS[0])}\n\n".encode())
            await asyncio.sleep(0.01)
        usage = {"choices": [], "usage": {"completion_tokens": tokens}}
        for event in (json.dumps(LAST), json.dumps(usage), "[DONE]"):
            await response.write(f"data: {event}\n\n".encode())
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/")).rstrip("/")


async def test_an_audience_holds_as_many_as_it_is_told_and_waits_for_the_last(engine: str) -> None:
    seen = []

    def watch() -> Row:
        with Audience(address=engine, held=5, tokens=20) as audience:
            while len(audience.ended(Ending.COMPLETE)) < 10:
                seen.append(audience.in_flight())
        return row_of("nothing", max(seen), audience)

    row = await asyncio.to_thread(watch)
    assert max(seen) == 5
    assert (row.truncated, row.refused) == (0, 0)
    assert row.begun > 10
    assert row.longest_gap > 0
    assert str(row) in table([row])
