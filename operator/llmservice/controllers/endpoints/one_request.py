"""One request on one connection, read and answered by aiohttp within limits of our own."""

import asyncio
import logging
from http import HTTPStatus

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from llmservice.controllers.endpoints.http_messages import told

log = logging.getLogger(__name__)

HEAD_BYTES = 16 * 1024
"""Room for a bearer token of many groups; what is longer is not read to its end."""

_HEADERS = 128
_NOT_IN_A_HEAD = b"\0"


class OneRequest(web.RequestHandler):
    """The protocol of one connection. `ended` is set when its last byte has left, or when it broke.

    No more than `HEAD_BYTES` are read in all: neither a body nor a second request finds a reader.
    """

    __slots__ = ("_room", "ended")

    def __init__(self, server: web.Server) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=0,
            lingering_time=0,
            logger=log,
            access_log=None,  # type: ignore[arg-type]  # aiohttp documents None as "no log"
            max_line_size=HEAD_BYTES,
            max_field_size=HEAD_BYTES,
            max_headers=_HEADERS,
            auto_decompress=False,
        )
        self.ended = asyncio.Event()
        self._room = HEAD_BYTES

    def data_received(self, data: bytes) -> None:
        """Whoever says more than there is room for is read no further; aiohttp limits only each line of a head."""
        if self._room < 0:
            return
        room, self._room = self._room, self._room - len(data)
        if self._room >= 0:
            super().data_received(data)
            return
        if self.transport is not None:
            self.transport.pause_reading()
        super().data_received(data[:room] + _NOT_IN_A_HEAD)

    def connection_lost(self, exc: BaseException | None) -> None:
        """However it came."""
        super().connection_lost(exc)
        self.ended.set()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """What cannot be read is logged nowhere: strangers write it, and it may hold a token."""
        if not isinstance(exc, HttpProcessingError):
            return last(super().handle_error(request, status, exc, message))
        if self._room < 0 or isinstance(exc, LineTooLong):
            return last(told(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"a head is at most {HEAD_BYTES} bytes long"))
        return last(told(HTTPStatus.BAD_REQUEST, f"not understood: send a GET with at most {_HEADERS} headers"))


def last(response: web.StreamResponse) -> web.StreamResponse:
    """The connection ends with this answer, and nobody keeps it."""
    response.headers.update({"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Server": "llmservice"})
    response.force_close()
    return response
