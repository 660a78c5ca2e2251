"""A request, sent on to a replica; and its answer, given to the client as it comes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import NoReturn

import aiohttp
from aiohttp import AddrInfoType, HttpVersion11, web
from yarl import URL

from llmservice.activator.bounds import BUFFER_BYTES, Bounds
from llmservice.activator.connection import read_on
from llmservice.activator.messages import answered, sent_on
from llmservice.activator.refusals import Code, Refusal
from llmservice.activator.slices import Replica

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_SLOWEST = 1024
"""Bytes a second of a body: who sends less for long keeps a replica from others."""

_AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class NotReached(Exception):
    """A replica could not be reached, and nothing of the request was read: it may go to another one."""


@dataclass(slots=True)
class _Upload:
    """The body of a request on its way. `begun`: some of it was read. `stalled`: the client stopped sending.

    The client may keep a replica waiting for so many `seconds`, and as long as its bytes take at the slowest rate.
    """

    request: web.BaseRequest
    seconds: float
    begun: Callable[[], None]
    stalled: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """As they come."""
        self.begun()
        read_on(self.request)
        self._go_on()
        left, loop = self.seconds, asyncio.get_running_loop()
        while True:
            asked = loop.time()
            try:
                async with asyncio.timeout(left):
                    chunk = await self.request.content.readany()
            except TimeoutError:
                self.stalled = True
                raise
            if not chunk:
                return
            left = min(left - (loop.time() - asked) + len(chunk) / _SLOWEST, self.seconds)
            yield chunk

    def _go_on(self) -> None:
        """Ask for the body of a client that waits to be asked; one of HTTP/1.0 would take that for the answer."""
        expects = self.request.headers.get("Expect", "").lower() == "100-continue"
        if expects and self.request.version >= HttpVersion11 and self.request.transport is not None:
            self.request.transport.write(_CONTINUE)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests, each over a connection of its own: none is left to a replica that stops, and none is stale."""

    session: aiohttp.ClientSession
    bounds: Bounds

    async def send(
        self, request: web.BaseRequest, replica: Replica, taken: Callable[[], None], *, closes: Callable[[], bool]
    ) -> web.StreamResponse:
        """Pass one request and its answer on.

        `taken` is called when the replica has the request. `closes` says, when the answer begins, whether the client's
        connection ends with it. Raises NotReached, Refusal, and ConnectionError where an answer breaks off.
        """
        upload = _Upload(request, self.bounds.stalled_seconds, taken)
        async with self._asked(request, replica, upload) as answer:
            taken()
            response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=answered(answer.headers))
            response.headers.setdefault("Server", "llmservice")
            if closes():
                response.force_close()
            await response.prepare(request)
            await self._pass_on(answer, response, request)
        return response

    @asynccontextmanager
    async def _asked(
        self, request: web.BaseRequest, replica: Replica, upload: _Upload
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = URL(replica.origin + request.rel_url.raw_path_qs, encoded=True)
        body = upload.chunks() if request.body_exists else None
        try:
            answer = await self.session.request(
                request.method,
                url,
                headers=sent_on(request.headers, request.raw_path),
                data=body,
                allow_redirects=False,
            )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotReached from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            _failed(upload, error)
        try:
            if answer.status < HTTPStatus.OK:
                raise Refusal(Code.REPLICA_FAILED, "the replica switched to another protocol, which nobody asked for")
            yield answer
        finally:
            answer.close()

    async def _pass_on(
        self, answer: aiohttp.ClientResponse, response: web.StreamResponse, request: web.BaseRequest
    ) -> None:
        """Each piece at once. Where the answer breaks off, the client's connection does: nobody takes it for whole."""
        try:
            async for chunk in answer.content.iter_any():
                async with asyncio.timeout(self.bounds.stalled_seconds):
                    await response.write(chunk)
            await response.write_eof()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError("the answer broke off") from error


def _failed(upload: _Upload, error: Exception) -> NoReturn:
    if upload.stalled:
        raise Refusal(Code.BODY_STALLED, f"the body did not come on for {upload.seconds:g} s") from error
    raise Refusal(Code.REPLICA_FAILED, "the replica ended the connection without an answer") from error


def _small_socket(address: AddrInfoType) -> socket.socket:
    """Little of an answer lies in the kernel: the rest stays with the replica while its client does not read."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    return made


@asynccontextmanager
async def sender(bounds: Bounds) -> AsyncIterator[Sender]:
    """A sender that lives as long as the block."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True, socket_factory=_small_socket),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=bounds.connect_seconds),
        skip_auto_headers=_AUTOMATIC,
        read_bufsize=BUFFER_BYTES // 2,
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    ) as session:
        yield Sender(session, bounds)
