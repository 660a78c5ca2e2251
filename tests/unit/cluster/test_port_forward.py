"""Ports of pods through the API server: a small one that echoes what comes over its WebSocket."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from llmservice.cluster.port_forward import forwarded
from llmservice.cluster.transport.bearer import without_credentials
from llmservice.cluster.transport.connection import connect

_PORT = b"\x50\x00"


async def _echo(request: web.Request) -> web.WebSocketResponse:
    channel = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
    await channel.prepare(request)
    await channel.send_bytes(b"\x00" + _PORT)
    async for message in channel:
        await channel.send_bytes(message.data)
    return channel


@asynccontextmanager
async def _api_server() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/api/v1/namespaces/ml/pods/{pod}/portforward", _echo)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        await runner.cleanup()


async def test_what_is_sent_comes_to_the_pod_and_a_connection_left_open_ends_without_a_word() -> None:
    complaints = list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with asyncio.timeout(10), _api_server() as server, connect(without_credentials(server, "")) as connection:
        async with forwarded(connection, "ml", ["chat-1"], 80) as url:
            address = urlsplit(url)
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"hello"
        assert await reader.read() == b""
        writer.close()
    await asyncio.sleep(0.05)
    assert complaints == []
