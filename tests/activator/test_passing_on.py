"""What passes through: bodies, streams, connections that are used again, and what is left out."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from llmservice.objects.references import Ref
from tests.activator.playing import HOST, Start, engine

MEGABYTE = 2**20


async def test_a_large_body_streams_through_and_is_not_kept(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += MEGABYTE
            yield b"x" * MEGABYTE

    async def counting(request: web.BaseRequest) -> web.StreamResponse:
        size = 0
        async for chunk in request.content.iter_any():
            size += len(chunk)
        return web.json_response({"size": size})

    post = asyncio.create_task(bench.client.post(bench.url(port), data=chunks()))
    await bench.held(1)
    await asyncio.sleep(0.3)
    assert sent < 8 * MEGABYTE  # the rest waits in the client, and in buffers of sockets
    async with engine(counting) as chat:
        await bench.cluster.ready(chat.port)
        answer = await post
        assert await answer.json() == {"size": 100 * MEGABYTE}


@pytest.mark.parametrize("size", [10, 50_000, 300_000])
async def test_a_body_may_come_at_any_moment_after_its_head(start: Start, port: int, size: int) -> None:
    bench = await start(head_seconds=0.5)
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        for pauses in range(12):
            head = f"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: {size}\r\n\r\n".encode()
            reader, writer = await conversation(port, head)
            for _ in range(pauses):
                await asyncio.sleep(0)
            writer.write(b"x" * size)
            (answer,) = await answers(reader, 1)
            assert answer.endswith(f'"size": {size}}}'.encode())
            writer.close()


async def test_a_held_request_outlives_the_deadline_of_its_head(start: Start, port: int) -> None:
    bench = await start(head_seconds=0.2, idle_seconds=0.3)
    await bench.cluster.sleeping(port)
    reader, writer = await conversation(port, post("/v1/x", b"body").removesuffix(b"dy"))
    await asyncio.sleep(0)
    writer.write(b"dy")
    await asyncio.sleep(1)
    assert bench.activator.hall.held == 1
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert (await answers(reader, 1))[0].startswith(b"HTTP/1.1 200")
    writer.close()


async def test_pieces_of_a_streamed_answer_come_as_they_are_written(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    read = asyncio.Event()

    async def streaming(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: one\n\n")
        await read.wait()
        await response.write(b"data: two\n\n")
        return response

    async with engine(streaming) as chat:
        await bench.cluster.ready(chat.port)
        async with bench.client.post(bench.url(port), json={"stream": True}) as answer:
            assert await answer.content.readuntil(b"\n\n") == b"data: one\n\n"
            read.set()
            assert await answer.content.read() == b"data: two\n\n"
            assert answer.content_type == "text/event-stream"


async def test_an_answer_that_breaks_off_is_not_taken_for_whole(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)

    async def breaking(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"data: one\n\n")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with engine(breaking) as chat:
        await bench.cluster.ready(chat.port)
        async with bench.client.post(bench.url(port), data=b"x") as answer:
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.read()


async def test_headers_of_one_connection_alone_end_here_both_ways(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)

    async def telling(request: web.BaseRequest) -> web.StreamResponse:
        names = sorted(name.lower() for name in request.headers)
        headers = {"Connection": "X-Mine", "X-Mine": "1", "Keep-Alive": "5", "X-Kept": "1"}
        return web.json_response({"names": names, "path": request.raw_path}, headers=headers)

    async with engine(telling) as chat:
        await bench.cluster.ready(chat.port)
        given = {"Connection": "close, X-Own", "X-Own": "1", "TE": "trailers", "Upgrade": "h2c", "X-Through": "1"}
        path = "/v1/a%2Fb//c?q=%20+&r=%41"
        answer = await bench.client.post(URL(bench.url(port, path), encoded=True), data=b"x", headers=given)
        told = await answer.json()
    assert told["path"] == path
    assert "x-through" in told["names"]
    assert not {"x-own", "te", "upgrade", "keep-alive", "expect"} & set(told["names"])
    assert "X-Mine" not in answer.headers
    assert answer.headers["X-Kept"] == "1"


async def conversation(port: int, *lines: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"".join(lines))
    return reader, writer


def post(path: str, body: bytes = b"", *headers: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: chat", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


async def answers(reader: asyncio.StreamReader, number: int) -> list[bytes]:
    """Bodies of so many answers with Content-Length."""
    bodies = []
    async with asyncio.timeout(10):
        for _ in range(number):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            bodies.append(head + await reader.readexactly(int(length.split(b":")[1])))
    return bodies


async def test_pipelined_requests_are_answered_in_order(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    reader, writer = await conversation(port, *(post(f"/v1/{number}", b"body") for number in range(100)))
    await bench.held(1)  # the next one waits behind it, in its own connection
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        bodies = await answers(reader, 100)
        assert chat.seen == [f"/v1/{number}" for number in range(100)]
        assert [f'/v1/{number}"'.encode() in body for number, body in enumerate(bodies)] == [True] * 100
    writer.close()


async def test_what_a_client_sends_ahead_stays_with_it_beyond_a_buffer(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    reader, writer = await conversation(port, *(post(f"/v1/{number}", b"body" * 7500) for number in range(300)))
    await bench.held(1)
    await asyncio.sleep(0.1)
    assert writer.transport.get_write_buffer_size() > 0  # of nine megabytes: nobody reads on
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert len(await answers(reader, 300)) == 300
        assert chat.seen == [f"/v1/{number}" for number in range(300)]
    writer.close()


async def test_the_body_of_a_client_that_waits_to_send_it_is_asked_for_when_a_replica_takes_it(
    start: Start, port: int
) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    reader, writer = await conversation(port, post("/v1/x", b"body", "Expect: 100-continue").removesuffix(b"body"))
    await bench.held(1)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"body")
        (answer,) = await answers(reader, 1)
        assert answer.startswith(b"HTTP/1.1 200")
    writer.close()


async def test_connections_end_with_their_answer_once_the_service_leads_to_replicas(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        reader, writer = await conversation(port, post("/v1/0"))
        (kept,) = await answers(reader, 1)
        assert b"connection: close" not in kept.lower()
        await bench.cluster.served_directly(port)
        writer.write(post("/v1/1"))
        (ending,) = await answers(reader, 1)
        assert b"connection: close" in ending.lower()
        assert await reader.read() == b""
        writer.close()


async def test_a_port_whose_service_is_gone_closes_and_answers_under_way_end(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def waiting(_: web.BaseRequest) -> web.StreamResponse:
        arrived.set()
        await go_on.wait()
        return web.Response(text="done")

    async with engine(waiting) as chat:
        await bench.cluster.ready(chat.port)
        idle, idle_writer = await asyncio.open_connection(HOST, port)
        post_ = asyncio.create_task(bench.client.post(bench.url(port), data=b"x"))
        await asyncio.wait_for(arrived.wait(), 5)
        await bench.cluster.gone()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(HOST, port)
        assert await idle.read() == b""
        idle_writer.close()
        go_on.set()
        assert await (await post_).text() == "done"


async def test_a_port_that_passes_to_another_service_hangs_up_on_the_clients_of_the_former(
    start: Start, port: int
) -> None:
    bench = await start()
    await bench.cluster.sleeping(port, "former")
    idle, idle_writer = await asyncio.open_connection(HOST, port)
    idle_writer.write(b"GET /health HTTP/1.1\r\nHost: chat\r\n\r\n")
    assert (await idle.readline()).startswith(b"HTTP/1.1 200")
    metadata = bench.cluster.running.table.slices.of_kind("EndpointSlice")[0]["metadata"]
    bench.cluster.running.table.slices.drop_uid(Ref("EndpointSlice", "default", "former-activator"), metadata["uid"])
    await bench.cluster.sleeping(port, "successor", uid="2")
    await asyncio.wait_for(idle.read(), 5)
    assert idle.at_eof()
    idle_writer.close()


async def test_a_client_of_http_1_0_gets_its_answer_and_the_end(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)

    async def streaming(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"piece")
        return response

    async with engine(streaming) as chat:
        await bench.cluster.ready(chat.port)
        reader, writer = await conversation(port, b"POST /v1/x HTTP/1.0\r\nContent-Length: 1\r\n\r\nx")
        whole = await asyncio.wait_for(reader.read(), 10)
        assert whole.endswith(b"\r\n\r\npiece")
        assert b"transfer-encoding" not in whole.lower()
        writer.close()


async def test_a_client_of_http_1_0_is_never_told_to_go_on(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        head = b"POST /v1/x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody"
        reader, writer = await conversation(port, head)
        assert (await asyncio.wait_for(reader.read(), 10)).splitlines()[0].endswith(b" 200 OK")
        writer.close()


async def test_an_offer_of_http_2_with_a_body_is_answered_as_http_1_1(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)
    async with engine() as chat:
        await bench.cluster.ready(chat.port)
        offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk")
        reader, writer = await conversation(port, post("/v1/0", b"body", *offer), post("/v1/1", b"more"))
        (answer,) = await answers(reader, 1)
        assert b'"size": 4' in answer
        assert b"connection: close" in answer.lower()  # what follows too closely is to be sent again
        assert await reader.read() == b""
        assert chat.seen == ["/v1/0"]
        writer.close()


async def test_an_absolute_target_is_asked_for_as_a_path_of_its_host(start: Start, port: int) -> None:
    bench = await start()
    await bench.cluster.sleeping(port)

    async def telling(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"target": request.raw_path, "host": request.headers["Host"]})

    async with engine(telling) as chat:
        await bench.cluster.ready(chat.port)
        reader, writer = await conversation(port, post("http://other.example:81/v1/x?a=%20b"))
        (answer,) = await answers(reader, 1)
        assert b'{"target": "/v1/x?a=%20b", "host": "other.example:81"}' in answer
        writer.close()
