"""A request, sent on to a replica; and its answer, given to the client as it comes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NoReturn

import aiohttp
from aiohttp import web
from yarl import URL

from llmservice.activator.bounds import Bounds
from llmservice.activator.messages import answered, sent_on
from llmservice.activator.refusals import Code, Refusal
from llmservice.activator.slices import Replica

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_AUTOMATIC = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class NotReached(Exception):
    """A replica could not be reached, and nothing of the request was read: it may go to another one."""


@dataclass(slots=True)
class _Upload:
    """The body of a request on its way. `begun`: some of it was read. `stalled`: the client stopped sending."""

    request: web.BaseRequest
    seconds: float
    begun: Callable[[], None]
    stalled: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """As they come."""
        self.begun()
        transport = self.request.transport
        if transport is not None and self.request.headers.get("Expect", "").lower() == "100-continue":
            transport.write(_CONTINUE)
        while True:
            try:
                async with asyncio.timeout(self.seconds):
                    chunk = await self.request.content.readany()
            except TimeoutError:
                self.stalled = True
                raise
            if not chunk:
                return
            yield chunk


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
                request.method, url, headers=sent_on(request.headers), data=body, allow_redirects=False
            )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotReached from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            _failed(upload, error)
        try:
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


@asynccontextmanager
async def sender(bounds: Bounds) -> AsyncIterator[Sender]:
    """A sender that lives as long as the block."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=bounds.connect_seconds),
        skip_auto_headers=_AUTOMATIC,
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    ) as session:
        yield Sender(session, bounds)
