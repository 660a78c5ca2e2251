"""Requests that nobody sends by accident: in two lengths, without an end, as tunnels, with endless heads."""

import asyncio
import contextlib
import socket
import sys

import pytest

from tests.activator.playing import HOST, Bench, Start, engine

BAD = (b"HTTP/1.1 400", b"HTTP/1.0 400")


async def said(port: int, request: bytes, seconds: float = 5) -> bytes:
    """All that is answered, until the connection ends."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        writer.write(request)
        return await asyncio.wait_for(reader.read(), seconds)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@pytest.fixture(params=["asleep", "awake"])
async def bench(request: pytest.FixtureRequest, start: Start, port: int) -> Bench:
    made = await start(head_seconds=0.3, idle_seconds=1.0, wait_seconds=1.0)
    await made.cluster.sleeping(port)
    if request.param == "awake":
        await made.cluster.ready(1)
    return made


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 4"],
        ["Content-Length: 4", "Content-Length: 5"],
        ["Content-Length: 4", "Content-Length: 4"],
        ["Content-Length: 4, 4"],
        ["Content-Length: +4"],
        ["Content-Length: -4"],
        ["Content-Length: 0x4"],
        ["Content-Length: 99999999999999999999999"],
        ["Content-Length : 4"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer-Encoding: identity"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding:\x0bchunked"],
        ["X-Folded: a\r\n b", "Content-Length: 4"],
        ["X-Null: a\0b", "Content-Length: 4"],
        ["Host: other", "Content-Length: 4"],
    ],
    ids=repr,
)
async def test_a_body_whose_end_two_readers_see_apart_is_refused(bench: Bench, port: int, headers: list[str]) -> None:
    smuggled = b"0\r\n\r\nPOST /v1/smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
    head = "\r\n".join(["POST /v1/x HTTP/1.1", "Host: chat", *headers]).encode()
    answer = await said(port, head + b"\r\n\r\n" + smuggled)
    assert answer.startswith(BAD)
    assert answer.count(b"\r\n\r\n") == 1
    assert bench.activator.hall.held == 0


@pytest.mark.parametrize("line_end", [b"\n", b"\r"])
async def test_lines_end_as_they_must(bench: Bench, port: int, line_end: bytes) -> None:
    answer = await said(port, line_end.join([b"POST /v1/x HTTP/1.1", b"Host: chat", b"Content-Length: 0", b"", b""]))
    assert answer.startswith((*BAD, b"HTTP/1.1 408"))
    assert bench.activator.hall.held == 0


@pytest.mark.parametrize(
    "chunks",
    [
        b"4\r\nbodyX\r\n0\r\n\r\n",
        b"zz\r\nbody\r\n0\r\n\r\n",
        b"-4\r\nbody\r\n0\r\n\r\n",
        b"fffffffffffffffff\r\nbody\r\n",
    ],
    ids=repr,
)
async def test_broken_chunks_never_reach_a_replica_as_a_whole_body(start: Start, port: int, chunks: bytes) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        answer = await said(port, b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert b" 200 " not in answer


@pytest.mark.parametrize("line", [b"OPTIONS * HTTP/1.1", b"POST /v1/\xff HTTP/1.1", "POST /v1/é HTTP/1.1".encode()])
async def test_a_path_that_is_none_reaches_no_replica(start: Start, port: int, line: bytes) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert (await said(port, line + b"\r\nHost: chat\r\nContent-Length: 0\r\n\r\n")).startswith(BAD)
        assert chat.seen == []


async def test_headers_that_are_no_text_are_left_out(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        head = (
            b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nConnection: close\r\nX-Name: \xe9\r\nContent-Length: 4\r\n\r\nbody"
        )
        assert b'"size": 4' in await said(port, head)


async def test_trailers_are_dropped(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        head = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = await said(port, head + b"4\r\nbody\r\n0\r\nX-Trailer: 1\r\n\r\n")
    assert b'"size": 4' in answer
    assert chat.seen == ["/v1/x"]


@pytest.mark.parametrize(
    ("line", "headers"),
    [
        ("GET /v1/realtime HTTP/1.1", ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]),
        ("CONNECT other:443 HTTP/1.1", []),
    ],
)
async def test_there_are_no_tunnels(bench: Bench, port: int, line: str, headers: list[str]) -> None:
    request = "\r\n".join([line, "Host: chat", *headers, "", ""]).encode()
    assert (await said(port, request)).startswith(b"HTTP/1.1 501")
    assert bench.activator.hall.held == 0


@pytest.mark.parametrize("begun", [b"", b"POST /v1/x HT", b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nX-A: b\r\n"])
async def test_a_head_that_does_not_come_ends_the_connection(bench: Bench, port: int, begun: bytes) -> None:
    answer = await said(port, begun)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408")
    async with asyncio.timeout(5):
        while len(bench.activator.listeners.connections):  # noqa: ASYNC110  (what counts is not told)
            await asyncio.sleep(0.01)


async def test_a_head_byte_by_byte_has_no_more_time(bench: Bench, port: int) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    async with asyncio.timeout(5):
        for byte in b"POST /v1/x HTTP/1.1\r\n" + b"X-Slow: 1\r\n" * 100:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
            if len(bench.activator.listeners.connections) == 0:
                break
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
    assert bench.activator.hall.held == 0
    writer.close()


@pytest.mark.parametrize(
    "head",
    [
        b"POST /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: chat\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nX-Long: " + b"a" * 40_000 + b"\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: chat\r\n" + b"X-Many: 1\r\n" * 200 + b"\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: chat\r\n" + (b"X-Large: " + b"a" * 8000 + b"\r\n") * 20 + b"\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: chat\r\n" + (b"X-Large: " + b"a" * 8000 + b"\r\n") * 20,
    ],
    ids=["path", "header", "headers", "bytes", "without an end"],
)
async def test_an_endless_head_is_refused(bench: Bench, port: int, head: bytes) -> None:
    answer = await said(port, head)
    assert answer == b"" or answer.startswith((*BAD, b"HTTP/1.1 431"))
    assert bench.activator.hall.held == 0


async def test_a_body_that_stops_coming_frees_its_replica(start: Start, port: int) -> None:
    bench = await start(stalled_seconds=0.3)
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        answer = await said(port, b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 10\r\n\r\nbody")
        assert answer.startswith(b"HTTP/1.1 408")
        await bench.activator.hall.emptied(5)
        assert bench.activator.hall.sent == 0


async def test_what_is_no_http_is_refused_and_not_logged(
    bench: Bench, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await said(port, b"\x16\x03\x01 secret-key\r\n\r\n")).startswith(BAD)
    assert "secret-key" not in caplog.text
    assert bench.activator.hall.held == 0


async def test_half_a_head_takes_no_place_from_a_whole_one(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=2)
    half = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\n"
    writers = [await talking(port, half) for _ in range(10)]
    writers += [await talking(port, half + b"Content-Length: 0\r\n\r\n") for _ in range(2)]
    await bench.held(2)
    for writer in writers:
        writer.close()


async def test_places_of_those_who_were_let_in_and_never_asked_are_free_again(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, maxHeld=2)
    broken = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: x\r\n\r\n"
    writers = [await talking(port, broken) for _ in range(10)]
    for writer in writers:
        writer.transport.abort()
    for _ in range(10):
        assert (await said(port, broken)).startswith(BAD)
    whole = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 0\r\n\r\n"
    writers += [await talking(port, whole) for _ in range(2)]
    await bench.held(2)
    for writer in writers:
        writer.close()
    await bench.held(0)
    assert [desk.coming for desk in bench.activator.hall.desks.values()] == [0]


async def talking(port: int, said: bytes) -> asyncio.StreamWriter:
    """A connection on which this was said."""
    _, writer = await asyncio.open_connection(HOST, port)
    writer.write(said)
    return writer


async def test_a_request_of_http_1_1_names_its_host(bench: Bench, port: int) -> None:
    assert (await said(port, b"POST /v1/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n")).startswith(BAD)
    assert bench.activator.hall.held == 0


async def test_a_body_that_drips_frees_its_replica(start: Start, port: int) -> None:
    bench = await start(stalled_seconds=0.5)
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 1000\r\n\r\n")
        async with asyncio.timeout(10):
            answer = asyncio.create_task(reader.read())
            while not answer.done():
                writer.write(b"x")
                await asyncio.sleep(0.1)
        assert (await answer).startswith(b"HTTP/1.1 408")
        writer.close()


@pytest.mark.parametrize("endless", [b"X-Trailer: 1\r\n", b"a" * 64], ids=["trailers", "trailer"])
async def test_trailers_without_an_end_stay_with_the_client(start: Start, port: int, endless: bytes) -> None:
    bench = await start(stalled_seconds=0.5)
    await bench.cluster.sleeping(port)
    loop, client = asyncio.get_running_loop(), socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
    client.settimeout(0)
    await loop.sock_connect(client, (HOST, port))
    await loop.sock_sendall(
        client, b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"
    )
    await bench.held(1)
    sent = 0
    with contextlib.suppress(TimeoutError, ConnectionError):
        while sent < 8 * 2**20:
            await asyncio.wait_for(loop.sock_sendall(client, endless * 500), 1)
            sent += len(endless) * 500
    assert sent < 2**20
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        await bench.activator.hall.emptied(5)
        assert bench.activator.hall.sent == 0
    client.close()


async def test_a_body_in_tiny_pieces_costs_no_more_objects_than_one_in_large_ones(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 60000\r\n\r\n")
    await bench.held(1)
    before = sys.getallocatedblocks()
    for _ in range(30_000):
        writer.write(b"xy")
        await asyncio.sleep(0)
    assert sys.getallocatedblocks() - before < 2_000
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert b'"size": 60000' in await asyncio.wait_for(reader.readuntil(b"}"), 20)
    writer.close()
