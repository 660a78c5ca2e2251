"""An HTTP server in a thread of its own, with few connections and little time for each.

Whoever opens connections and says nothing, or reads nothing, loses them: each has seconds for everything from the
handshake to the last byte, one request, and when all are taken the oldest of the busiest address gives way.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, Protocol, Self

from aiohttp import web

from llmservice.controllers.endpoints.http_messages import told
from llmservice.controllers.endpoints.one_request import OneRequest, last
from llmservice.errors import InvalidSetting
from llmservice.fairness.token_buckets import TokenBuckets

log = logging.getLogger(__name__)

_HANDSHAKE_SECONDS = 5.0
_NO_ROOM_SECONDS = 0.5
_STOP_SECONDS = 5.0
_MOST_ADDRESSES = 1024

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Certificate(Protocol):
    """What the server shows to those who ask by HTTPS."""

    async def context(self) -> ssl.SSLContext:
        """The context for every connection; waits until there is one."""
        ...

    async def follow(self) -> NoReturn:
        """Keep the context up to date until cancelled."""
        ...


@dataclass(slots=True, kw_only=True)
class HttpServer:
    """Serves as long as the block runs. Port 0 takes a free one; `port` is the real one afterwards.

    `handle` is called in the server's thread. `host` empty: all addresses. `setting` is the variable that names the
    port: `InvalidSetting` names it when the port cannot be taken. No `certificate`: plain HTTP.
    """

    name: str
    port: int
    setting: str
    handle: Handler
    host: str = ""
    certificate: Certificate | None = None
    connections: int = 128
    seconds: float = 30.0
    newcomers: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=256, seconds=0.1, most_keys=_MOST_ADDRESSES)
    )
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _server: web.Server = field(init=False)
    _thread: threading.Thread | None = None
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _open: dict[asyncio.Task[None], str] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        listener = _listener(self.host, self.port, self.setting)
        self.port = listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listener,), name=self.name, daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join, _STOP_SECONDS)

    def _run(self, listener: socket.socket) -> None:
        with listener, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        """Until it is stopped; the runner ends what is left."""
        self._server = web.Server(self._answer, handler_cancellation=True)
        running = [
            self._accept(listener),
            self._stop.wait(),
            *([self.certificate.follow()] if self.certificate else []),
        ]
        done, _ = await asyncio.wait(map(asyncio.ensure_future, running), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def _accept(self, listener: socket.socket) -> NoReturn:
        tls = await self.certificate.context() if self.certificate else None
        trouble = ""
        while True:
            try:
                connection, peer = await self._loop.sock_accept(listener)
            except OSError as error:
                if trouble != (trouble := str(error)):
                    log.warning("%s: connections cannot be accepted: %s", self.name, error)
                await asyncio.sleep(_NO_ROOM_SECONDS)
                continue
            trouble = ""
            if self.newcomers.take(peer[0], self._loop.time()):
                self._admit(connection, peer[0], tls)
            else:
                connection.close()

    def _admit(self, connection: socket.socket, address: str, tls: ssl.SSLContext | None) -> None:
        if len(self._open) >= self.connections:
            busiest, _ = Counter(self._open.values()).most_common(1)[0]
            oldest = next(task for task, whose in self._open.items() if whose == busiest)
            self._open.pop(oldest)
            oldest.cancel()
        task = self._loop.create_task(self._converse(connection, tls))
        self._open[task] = address
        task.add_done_callback(partial(self._ended, connection))

    def _ended(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        """Also of one that gave way before it began."""
        connection.close()
        self._open.pop(task, None)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s: a connection failed by a defect", self.name, exc_info=error)

    async def _converse(self, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
        try:
            async with asyncio.timeout(self.seconds):
                await _served(OneRequest(self._server), connection, tls)
        except (TimeoutError, OSError):
            log.debug("%s: a connection ended early", self.name)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "GET":
            return last(told(405, "only GET is answered here", Allow="GET"))
        return last(await self.handle(request))


async def _served(protocol: OneRequest, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
    limit = _HANDSHAKE_SECONDS if tls else None
    transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
        lambda: protocol, connection, ssl=tls, ssl_handshake_timeout=limit, ssl_shutdown_timeout=limit
    )
    try:
        await protocol.ended.wait()
    finally:
        # A TLS transport that was closed twice has nothing left to abort; Python 3.11.2 of Debian 12 fails over that.
        with contextlib.suppress(AttributeError):
            transport.abort()


def _listener(host: str, port: int, setting: str) -> socket.socket:
    """One socket for IPv4 and IPv6, where there is IPv6: the kubelet asks the pod's first address."""
    try:
        if not host and socket.has_dualstack_ipv6():
            listener = socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=True)
        else:
            listener = socket.create_server((host, port))
    except OSError as error:
        message = f"{port} cannot be taken ({error}); choose another, or 0 for none"
        raise InvalidSetting(setting, message) from error
    listener.settimeout(0)
    return listener
