"""Engines that answer what nobody asked for, too early, without an end, or not to the end."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from tests.activator.playing import HOST, Bench, Start

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_engine(talk: Talk) -> AsyncIterator[int]:
    """The port of a server that says what it likes."""
    server = await asyncio.start_server(talk, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def saying(answer: bytes, *, ends: bool = True) -> Talk:
    """Read a head, say that, and end: at once, or when the other side has."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        if ends:
            writer.close()
        with suppress(ConnectionError):
            while await reader.read(65_536):
                pass
        writer.close()

    return talk


async def asked(port: int, request: bytes, seconds: float = 10) -> bytes:
    """All that a client gets until its connection ends; what it asked is its last request."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(request)
        return await asyncio.wait_for(reader.read(), seconds)
    except ConnectionResetError:
        return b"reset"
    finally:
        writer.close()


def request(*headers: str, method: str = "POST", target: str = "/v1/x", version: str = "1.1") -> bytes:
    head = [f"{method} {target} HTTP/{version}", "Host: chat", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n"


async def with_engine(start: Start, port: int, talk: Talk, asking: bytes, **bounds: float) -> tuple[Bench, bytes]:
    """What a client gets from that engine."""
    bench = await start(**bounds)
    await bench.cluster.sleeping(port)
    async with raw_engine(talk) as engine_port:
        await bench.cluster.ready(engine_port)
        answer = await asked(port, asking)
        await bench.activator.hall.emptied(5)
    assert bench.activator.hall.sent == 0
    return bench, answer


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframes",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 6\r\n\r\nabcdef",
        b"HTTP/1.1 200 OK\r\nX-Large: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 20\r\n\r\n",
        b"\x16\x03\x01\x00",
        b"",
    ],
    ids=["switching", "two lengths", "two content lengths", "large head", "no status", "tls", "nothing"],
)
async def test_an_answer_that_is_none_is_told_as_a_failure(start: Start, port: int, answer: bytes) -> None:
    _, told = await with_engine(start, port, saying(answer), request("Content-Length: 0"))
    assert told.startswith(b"HTTP/1.1 502 ")
    assert b"replica_failed" in told


async def test_a_reason_that_is_no_text_is_left_out(start: Start, port: int, caplog: pytest.LogCaptureFixture) -> None:
    talk = saying(b"HTTP/1.1 200 f\xff\xfe\r\nContent-Length: 2\r\n\r\nok")
    _, told = await with_engine(start, port, talk, request("Content-Length: 0"))
    assert told.startswith(b"HTTP/1.1 200 ")
    assert told.endswith(b"\r\n\r\nok")
    assert caplog.text == ""


@pytest.mark.parametrize("early", [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
async def test_what_comes_before_an_answer_is_not_the_answer(start: Start, port: int, early: bytes) -> None:
    talk = saying(early + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    _, told = await with_engine(start, port, talk, request("Content-Length: 0"))
    assert told.startswith(b"HTTP/1.1 200 ")
    assert told.endswith(b"\r\n\r\nok")


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"),
        ("POST", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n"),
    ],
)
async def test_answers_without_a_body_have_none(start: Start, port: int, method: str, answer: bytes) -> None:
    length = [] if method != "POST" else ["Content-Length: 0"]
    _, told = await with_engine(start, port, saying(answer), request(*length, method=method))
    assert told.startswith(answer[:13])
    assert told.endswith(b"\r\n\r\n")
    assert told.count(b"\r\n\r\n") == 1


async def test_an_answer_before_the_end_of_the_body_reaches_a_client_that_still_sends(start: Start, port: int) -> None:
    talk = saying(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig", ends=False)
    asking = request("Content-Length: 2000000") + b"x" * 2_000_000
    _, told = await with_engine(start, port, talk, asking)
    assert told.startswith(b"HTTP/1.1 413 ")
    assert told.endswith(b"big")


async def test_an_answer_shorter_than_it_says_breaks_the_connection(start: Start, port: int) -> None:
    talk = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort")
    _, told = await with_engine(start, port, talk, request("Content-Length: 0"))
    assert told == b"reset" or told.partition(b"\r\n\r\n")[2] in {b"", b"short"}


async def test_an_endless_answer_to_a_client_that_does_not_read_stays_with_its_replica(start: Start, port: int) -> None:
    bench = await start(stalled_seconds=2.0)
    await bench.cluster.sleeping(port)
    sent = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 16_384)
                await writer.drain()
                sent += 16_384
        except ConnectionError:
            writer.close()

    async with raw_engine(talk) as engine_port:
        await bench.cluster.ready(engine_port)
        client = socket.create_connection((HOST, port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.send(request("Content-Length: 0"))
        await asyncio.sleep(1)
        assert bench.activator.hall.sent == 1
        assert 0 < sent < 2**20
        await bench.activator.hall.emptied(6)
        assert bench.activator.hall.sent == 0
        client.close()
