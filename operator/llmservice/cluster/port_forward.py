"""A port of pods on this machine, through the API server: what `kubectl port-forward` does, for all pods of a Service.

Each connection goes to the next pod. Over a WebSocket of its own with the channels of `v4.channel.k8s.io`: every
message begins with the number of its channel, 0 data, 1 errors, and the first on each is the port
(k8s.io/kubelet/pkg/cri/streaming/portforward). The caller needs the right to `create` `pods/portforward`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from urllib.parse import quote

import aiohttp
from yarl import URL

from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.failures import unreachable
from llmservice.errors import Refused

_CHUNK = 64 * 1024
_LARGEST_MESSAGE = 4 * 2**20
_DATA, _ERROR = 0, 1
_PORT_BYTES = 2


@asynccontextmanager
async def forwarded(connection: Connection, namespace: str, pods: Sequence[str], port: int) -> AsyncIterator[str]:
    """The base URL on this machine, while the block lasts. Raises `Refused` or `Unavailable` where no pod answers."""
    async with await _opened(connection, namespace, pods[0], port):
        pass  # a right that is missing is told now, and not by each connection
    turns, tasks = cycle(pods), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (asyncio runs this as one)
        tasks.add(task)
        with contextlib.suppress(aiohttp.ClientError, OSError, Refused, asyncio.CancelledError):
            # Cancelled below alone, and asyncio prints a traceback of a server's task that ends so.
            async with await _opened(connection, namespace, next(turns), port) as socket:
                await _copied(reader, writer, socket)
        writer.close()
        tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _opened(connection: Connection, namespace: str, pod: str, port: int) -> aiohttp.ClientWebSocketResponse:
    credentials = connection.credentials
    path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/portforward?ports={port}"
    token = await credentials.authorization()
    try:
        return await connection.session.ws_connect(
            URL(credentials.server + path, encoded=True),
            protocols=("v4.channel.k8s.io",),
            headers={"Accept": "*/*"} | ({"Authorization": token} if token else {}),
            proxy=credentials.proxy,
            max_msg_size=_LARGEST_MESSAGE,
        )
    except aiohttp.WSServerHandshakeError as error:
        raise Refused(
            "PortForwardRefused",
            f"a port of pod {pod} could not be forwarded (HTTP {error.status}): you need the right to `create` "
            "`pods/portforward`; or give the Service's address instead of its name",
        ) from error
    except (aiohttp.ClientError, OSError) as error:
        raise unreachable(error) from error


async def _copied(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: aiohttp.ClientWebSocketResponse
) -> None:
    """Both ways until either side ends."""
    up, down = asyncio.create_task(_up(reader, socket)), asyncio.create_task(_down(socket, writer))
    try:
        await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)


async def _up(reader: asyncio.StreamReader, socket: aiohttp.ClientWebSocketResponse) -> None:
    while data := await reader.read(_CHUNK):
        await socket.send_bytes(bytes((_DATA,)) + data)


async def _down(socket: aiohttp.ClientWebSocketResponse, writer: asyncio.StreamWriter) -> None:
    begun = set[int]()
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY:
            return
        channel, data = message.data[0], message.data[1:]
        if channel not in begun:
            begun.add(channel)
            data = data[_PORT_BYTES:]
        if channel == _ERROR and data:
            return
        if channel == _DATA and data:
            writer.write(data)
            await writer.drain()
