"""The page that the operator reads, and the probes: counts by port number, no names and no credentials."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from aiohttp import web

from llmservice.activator.board import Board
from llmservice.activator.bounds import Bounds
from llmservice.activator.connection import ClientConnection, whole
from llmservice.activator.connections import Connections
from llmservice.activator.doors import listening_socket
from llmservice.activator.refusals import Answer
from llmservice.errors import InvalidSetting

_LONGEST_WAIT_SECONDS = 30.0
_LONGEST_VERSION = 64
_MOST_CONNECTIONS = 128


@dataclass(slots=True)
class Control:
    """Answers GET `/held`, `/healthz` and `/readyz`. `ready`: whether the activator may be an endpoint."""

    board: Board
    ready: bool = False

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request."""
        if request.method != "GET":
            return _said(HTTPStatus.METHOD_NOT_ALLOWED, {"error": "only GET is answered here"})
        if request.path == "/held":
            return await self._held(request)
        if request.path == "/healthz":
            return _said(HTTPStatus.OK, {"ok": True})
        if request.path == "/readyz":
            status = HTTPStatus.OK if self.ready else HTTPStatus.SERVICE_UNAVAILABLE
            return _said(status, {"ready": self.ready})
        return _said(HTTPStatus.NOT_FOUND, {"error": "there are /held, /healthz and /readyz"})

    async def _held(self, request: web.BaseRequest) -> web.StreamResponse:
        version, wait = request.query.get("version", ""), request.query.get("wait", "0")
        if len(version) > _LONGEST_VERSION or not (wait.isascii() and wait.isdecimal()) or len(wait) > 3:  # noqa: PLR2004
            return _said(HTTPStatus.BAD_REQUEST, {"error": "ask for /held?version=V&wait=SECONDS"})
        return _said(HTTPStatus.OK, await self.board.after(version, min(float(wait), _LONGEST_WAIT_SECONDS)))

    @asynccontextmanager
    async def served(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve as long as the block runs; yields the port, which is a free one where 0 was asked for.

        Raises InvalidSetting when it cannot be taken.
        """
        bounds, connections = Bounds(idle_seconds=2 * _LONGEST_WAIT_SECONDS), Connections(_MOST_CONNECTIONS)
        web_server = web.Server(self.answer, handler_cancellation=True)
        try:
            listener = listening_socket(host, port)
        except OSError as error:
            message = f"{port} cannot be taken ({error}); choose another"
            raise InvalidSetting("LLMSERVICE_ACTIVATOR_CONTROL_PORT", message) from error
        taken: int = listener.getsockname()[1]
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: ClientConnection(web_server, taken, bounds, connections), sock=listener
        )
        try:
            yield taken
        finally:
            server.close()
            connections.hang_up_all()


def _said(status: HTTPStatus, body: dict[str, Any]) -> web.Response:
    return whole(Answer(status, orjson.dumps(body), {"Content-Type": "application/json", "Cache-Control": "no-store"}))
