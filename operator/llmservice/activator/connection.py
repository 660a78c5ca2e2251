"""One client's connection, read by aiohttp within limits of our own on the size of a head and the time it takes."""

import asyncio
import logging
import socket
from http import HTTPStatus

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from llmservice.activator.bounds import BUFFER_BYTES, Bounds
from llmservice.activator.connections import Connections
from llmservice.activator.messages import LONGEST_HEAD
from llmservice.activator.reception import Expected, Reception
from llmservice.activator.refusals import Answer, Code, Refusal, refused

log = logging.getLogger(__name__)

_HEADERS = 128
_ESTABLISHED = 1
"""The first byte of TCP_INFO, the state, of a connection that neither side has ended (tcp_states.h of Linux)."""

_MOST_PIECES = 512
"""In which a body may come while it waits: each is an object, however small."""

_MOST_UNREAD = 4 * BUFFER_BYTES
"""Bytes of a body that waits, with the lengths of its chunks and what follows them."""

_LINGER_SECONDS = 1.0
"""Reading on after an answer that came before the body's end, so that the client gets to read it."""


class ClientConnection(web.RequestHandler):
    """The protocol of one connection. Told to `connections` under its port as long as it is open.

    A head has `head_seconds` from its first byte to its last, and `LONGEST_HEAD` bytes. Of requests that a client sends
    ahead `BUFFER_BYTES` are read; the rest when all of these were answered. `reception` turns requests away before they
    are read; the first one, which the lobby let in, is `expected` already.
    """

    __slots__ = (
        *("_ahead", "_bounds", "_connections", "_deadline", "_expected", "_head", "_is_over"),
        *("_pieces", "_piles", "_port", "_reception", "_unread"),
    )

    def __init__(
        self,
        server: web.Server,
        port: int,
        bounds: Bounds,
        connections: Connections,
        reception: Reception | None = None,
        expected: Expected | None = None,
    ) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=bounds.idle_seconds,
            lingering_time=_LINGER_SECONDS,
            logger=log,
            access_log=None,  # type: ignore[arg-type]  # aiohttp documents None as "no log"
            max_line_size=LONGEST_HEAD // 2,
            max_field_size=LONGEST_HEAD // 2,
            max_headers=_HEADERS,
            read_bufsize=BUFFER_BYTES // 2,  # it reads until more than twice as much lies here
            auto_decompress=False,
        )
        self._port, self._bounds, self._connections = port, bounds, connections
        self._reception, self._expected, self._is_over = reception, expected, False
        self._head = self._ahead = self._pieces = self._unread = 0
        self._piles = False
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it waits for a request. One that was read, and is not yet being answered, is no wait any more."""
        return self._waiter is not None and not self._waiter.done()

    @property
    def is_gone(self) -> bool:
        """Whether the client ended it while nobody reads: asyncio tells the end to those alone who read."""
        if self.transport is None or self.transport.is_reading():
            return False
        own: socket.socket = self.transport.get_extra_info("socket")
        return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED

    def hang_up(self) -> None:
        """End it now."""
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Counted from here on."""
        super().connection_made(transport)
        self._connections.came(self._port, self)

    def arrived(self) -> None:
        """Its request is being answered: nobody expects it any more, and its body piles up until it is `read_on`."""
        self._forget()
        self._piles, self._pieces, self._unread = True, 0, 0

    def read_on(self) -> None:
        """Its body goes to a replica as it comes."""
        self._piles = False
        if self._is_pile:
            self.resume_reading()

    @property
    def _is_pile(self) -> bool:
        return self._pieces > _MOST_PIECES or self._unread > _MOST_UNREAD

    def _forget(self) -> None:
        if self._expected is not None:
            self._expected.here()
            self._expected = None

    def connection_lost(self, exc: BaseException | None) -> None:
        """However it came."""
        self._forget()
        self._stop_clock()
        self._connections.went(self._port, self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to no request that is read."""
        if self._is_over:
            return
        if self.is_idle:
            self._read_head(data)
            return
        request = self._current_request
        self._ahead += len(data) if request is not None and request.content.is_eof() else 0
        super().data_received(data)
        if self._ahead > BUFFER_BYTES and not self._buffer_paused:
            self._pause_reading_for_buffer()
        if self._piles and request is not None and not request.content.is_eof():
            self._pile_up(len(data))

    def _pile_up(self, size: int) -> None:
        """Of a body that nobody reads yet no more is read once it costs much more than its bytes."""
        self._pieces, self._unread = self._pieces + 1, self._unread + size
        if self._is_pile:
            self.pause_reading()

    def _read_head(self, data: bytes) -> None:
        first = not self._head and self._expected is None
        if first and self._reception is not None and (told := self._reception.turned_away(data)):
            self._say_last(told)
            return
        self._head += len(data)
        self._ahead = 0
        super().data_received(data)
        if not self.is_idle:
            if first and self._reception is not None:
                self._expected = self._reception.expect(data)
            self._head = 0
            self._stop_clock()
        elif self._head > LONGEST_HEAD:
            self._end(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif self._head and self._deadline is None:
            self._deadline = self._loop.call_later(self._bounds.head_seconds, self._end, HTTPStatus.REQUEST_TIMEOUT)

    def _resume_reading_if_drained(self) -> None:
        """Only then: each answer would else make room for as much again."""
        if not self._messages:
            self._ahead = 0
            super()._resume_reading_if_drained()

    def _end(self, status: HTTPStatus) -> None:
        self._say_last(Answer(status, b"", {}).last())

    def _say_last(self, told: bytes) -> None:
        """Say this and read no more; a connection that is closed with bytes unread would lose it on its way."""
        self._is_over = True
        self._forget()
        if self.transport is not None:
            self.transport.write(told)
            self.transport.write_eof()
            self._loop.call_later(_LINGER_SECONDS, self.hang_up)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """What cannot be read is logged nowhere: strangers write it, and it may hold a key."""
        if not isinstance(exc, HttpProcessingError):
            return last(super().handle_error(request, status, exc, message))
        return last(whole(refused(Refusal(Code.NOT_UNDERSTOOD, "this is no HTTP/1.1 request that can be understood"))))


def arrived(request: web.BaseRequest) -> None:
    """Tell its connection that it is being answered."""
    if isinstance(request.protocol, ClientConnection):
        request.protocol.arrived()


def read_on(request: web.BaseRequest) -> None:
    """Tell its connection that its body is being read."""
    if isinstance(request.protocol, ClientConnection):
        request.protocol.read_on()


def whole(answer: Answer) -> web.Response:
    """An answer of our own, for aiohttp."""
    return web.Response(status=answer.status, body=answer.body, headers={**answer.headers, "Server": "llmservice"})


def last(response: web.StreamResponse) -> web.StreamResponse:
    """The connection ends with this answer."""
    response.force_close()
    return response
