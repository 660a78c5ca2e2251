"""What an activator answers: counts, in bounds; what else it says is left out, and what is no page raises."""

import json

import aiohttp
import pytest
from aiohttp import web

from llmservice.errors import Unavailable
from llmservice.signals.held_page import PortCounts, page_in, read_held
from tests.unit.signals.test_download_page import Handler, answering


def body(**ports: object) -> bytes:
    return json.dumps({"version": "v7", "ports": ports}).encode()


def test_counts_by_port() -> None:
    page = page_in(body(**{"20007": {"held": 3, "oldestSeconds": 1.2, "answered": 120, "refused": 4}}))
    assert page.version == "v7"
    assert page.ports == {20_007: PortCounts(held=3, answered=120, refused=4)}


@pytest.mark.parametrize("port", ["80", "30000", "x", "\uff120007", "-2007", ""])
def test_other_ports_are_left_out(port: str) -> None:
    assert page_in(body(**{port: {"held": 1}})).ports == {}


@pytest.mark.parametrize("count", [-1, 1.5, "3", True, None, 1e300, {"a": 1}])
def test_what_is_no_count_counts_as_none(count: object) -> None:
    assert page_in(body(**{"20007": {"held": count}})).ports == {20_007: PortCounts()}


def test_a_version_is_cut() -> None:
    assert len(page_in(json.dumps({"version": "x" * 10_000, "ports": {}}).encode()).version) == 128


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"ports": []}', b"<html>", b"[" * 100_000])
def test_what_is_no_page_is_no_answer(text: bytes) -> None:
    with pytest.raises(Unavailable):
        page_in(text)


async def asked(handler: Handler) -> object:
    application = web.Application()
    application.router.add_get("/held", handler)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with aiohttp.ClientSession() as session:
            return await read_held(session, "127.0.0.1", runner.addresses[0][1], "v6")
    finally:
        await runner.cleanup()


async def test_the_question_bears_the_version_of_the_last_answer() -> None:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append(request.query_string)
        return web.Response(body=body())

    await asked(answer)
    assert seen == ["version=v6&wait=20"]


async def test_an_answer_of_any_size_is_read_in_bounds() -> None:
    with pytest.raises(Unavailable, match="bytes"):
        await asked(answering(b"x" * (3 * 2**20)))


@pytest.mark.parametrize("status", [404, 500, 302])
async def test_another_answer_is_none(status: int) -> None:
    with pytest.raises(Unavailable, match=str(status)):
        await asked(answering(b"", status=status, headers={"Location": "http://127.0.0.1:1/"}))


async def test_nobody_there() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(Unavailable):
            await read_held(session, "127.0.0.1", 1, "")
