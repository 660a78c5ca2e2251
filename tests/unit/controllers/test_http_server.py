"""The server: who says nothing, too much or nonsense keeps nobody else waiting."""

import asyncio
import logging
import socket
import threading
from contextlib import closing

import pytest
from aiohttp import web

from llmservice.controllers.endpoints.http_messages import in_chunks
from llmservice.controllers.endpoints.http_server import HttpServer
from llmservice.controllers.endpoints.one_request import HEAD_BYTES
from llmservice.fairness.token_buckets import TokenBuckets
from tests.unit.controllers.http_asking import ask


async def hello(request: web.BaseRequest) -> web.Response:
    return web.Response(text=request.path)


def a_server(*, connections: int = 4, seconds: float = 30, newcomers: TokenBuckets[str] | None = None) -> HttpServer:
    if newcomers is None:  # one without any key yet is false
        newcomers = TokenBuckets(burst=1000, seconds=3600)
    return HttpServer(
        name="test", port=0, setting="TEST", handle=hello, connections=connections, seconds=seconds, newcomers=newcomers
    )


async def said(server: HttpServer, words: bytes) -> bytes:
    """All that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(words)
    answer = await reader.read()
    writer.close()
    return answer


async def test_one_answer_and_the_connection_ends() -> None:
    async with a_server() as server:
        answer = await said(server, b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\n\r\n/a")
    assert b"Connection: close" in answer


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"405"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/2\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nA : b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + HEAD_BYTES * b"x", b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + HEAD_BYTES // 400 * (b"A: " + 500 * b"x" + b"\r\n"), b"431"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + 200 * b"A: x\r\n" + b"\r\n", b"400"),
        (b"GET /" + HEAD_BYTES * b"x", b"431"),
        (b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"405"),
        (b"\xff\xfe\xfd\r\n\r\n", b"400"),
    ],
)
async def test_what_is_not_understood_is_said_and_ends(words: bytes, status: bytes) -> None:
    async with a_server() as server:
        assert (await said(server, words)).split()[1] == status


async def test_what_is_not_understood_is_neither_logged_nor_sent_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for line in (b"Authorization: Bearer planted\0", b"Bearer planted", b"A: planted" + HEAD_BYTES * b"x"):
        async with a_server() as server:
            assert b"planted" not in await said(server, b"GET / HTTP/1.1\r\nHost: x\r\n" + line + b"\r\n\r\n")
    assert "planted" not in caplog.text


async def test_a_body_is_answered_and_not_read() -> None:
    asked, answer = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def wait(request: web.BaseRequest) -> web.Response:
        loop.call_soon_threadsafe(asked.set)
        await asyncio.to_thread(answer.wait, 30)
        return await hello(request)

    async with a_server() as server:
        server.handle = wait
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + 2 * HEAD_BYTES * b"x")
        await asyncio.wait_for(asked.wait(), 30)
        (connection,) = server._server.connections
        assert connection.transport
        while connection.transport.is_reading():  # noqa: ASYNC110  (a transport tells nobody when it pauses)
            await asyncio.sleep(0.01)
        answer.set()
        assert (await reader.read(1000)).startswith(b"HTTP/1.1 200 ")
        writer.transport.abort()


async def test_connections_that_say_nothing_give_way_to_those_that_ask() -> None:
    async with a_server(connections=4) as server:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for connection in silent:
            connection.sendall(b"GET / HTTP/1.1\r\n")
        assert await ask(server, "/hello") == (200, "/hello")
        assert len(server._open) <= 4
        for connection in silent:
            connection.close()


async def test_the_oldest_of_the_busiest_address_gives_way() -> None:
    async with a_server(connections=3) as server:
        with (
            closing(socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.2", 0))) as lonely,
            closing(socket.create_connection(("127.0.0.1", server.port))),
            closing(socket.create_connection(("127.0.0.1", server.port))),
        ):
            assert await ask(server, "/hello") == (200, "/hello")
            lonely.sendall(b"GET /still-there HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"/still-there" in await asyncio.to_thread(lonely.recv, 1000)


async def test_a_connection_has_so_many_seconds_for_everything() -> None:
    async with a_server(seconds=0.2) as server:
        assert await said(server, b"GET / HTTP/1.1\r\n") == b""


async def test_an_address_that_comes_too_often_is_turned_away_and_no_other() -> None:
    async with a_server(newcomers=TokenBuckets(burst=2, seconds=3600)) as server:
        assert [await ask(server, "/") for _ in range(2)] == [(200, "/")] * 2
        with closing(socket.create_connection(("127.0.0.1", server.port), timeout=10)) as third:
            assert await asyncio.to_thread(third.recv, 1) == b""  # at once: the server gives others 30 seconds
        with closing(socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.2", 0))) as other:
            other.sendall(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"/other" in await asyncio.to_thread(other.recv, 1000)


async def test_a_defect_is_logged_and_ends_one_connection(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_: web.BaseRequest) -> web.Response:
        raise ZeroDivisionError

    async with a_server() as server:
        server.handle = fail
        assert (await said(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")).startswith(b"HTTP/1.1 500 ")
        server.handle = hello
        assert await ask(server, "/") == (200, "/")
    assert "ZeroDivisionError" in caplog.text


async def test_who_reads_slowly_keeps_little_of_a_large_answer_in_memory() -> None:
    """The kernel takes some; the server itself holds a chunk back."""
    kept: list[int] = []

    async def large(_: web.BaseRequest) -> web.Response:
        return in_chunks(bytes(64_000_000), "text/plain")

    async with a_server() as server:
        server.handle = large
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readexactly(1)
        await asyncio.sleep(0.1)
        (connection,) = server._server.connections
        assert connection.transport
        kept.append(connection.transport.get_write_buffer_size())
        writer.transport.abort()
    assert kept[0] <= 256 * 1024
