"""The server on loopback: one page, its data, and nobody let in but the browser that was given the address.

Any program and any web page of the machine can reach a port on loopback. The address holds a random token; a request
that names another host (DNS rebinding) or comes from another site is refused; the page loads nothing from elsewhere.
"""

import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from llmservice.errors import NotFound, OperatorError
from llmservice.ui import answers
from llmservice.ui.reading import Reader

LOOPBACK = "127.0.0.1"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True, kw_only=True)
class Page:
    """`port` is known once the server listens."""

    reader: Reader
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0

    @property
    def address(self) -> str:
        """What a browser is given."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator["Page"]:
        """Listen as long as the block runs, on any free port where none is given. Raises OSError for one in use."""
        app = web.Application(middlewares=[self._guarded], client_max_size=1024)
        app.router.add_get("/{token}/api/services", self._services)
        app.router.add_get("/{token}/api/services/{namespace}/{name}", self._service)
        app.router.add_get("/{token}/{file}", self._file)
        app.router.add_get("/{token}/", self._file)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, LOOPBACK, port)
            await site.start()
            self.port = runner.addresses[0][1]
            yield self
        finally:
            await runner.cleanup()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            response: web.StreamResponse = self._refusal(request) or await handler(request)
        except web.HTTPException as error:
            response = answers.said(error.status, error.reason)
        except NotFound as error:
            response = answers.said(404, str(error))
        except OperatorError as error:
            response = answers.said(502, str(error))
        response.headers.update(answers.HEADERS)
        return response

    def _refusal(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Host", "") not in {f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"}:
            return answers.said(403, "this page is for this machine alone")
        if answers.comes_from_elsewhere(request):
            return answers.said(403, "another site may not ask this page")
        given = request.path.partition("/")[2].partition("/")[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return answers.said(404, "open the address that `llmservice ui` printed")
        return None

    async def _file(self, request: web.Request) -> web.Response:
        return answers.file(request.match_info.get("file", answers.PAGE))

    async def _services(self, request: web.Request) -> web.Response:
        return await answers.services(self.reader, request)

    async def _service(self, request: web.Request) -> web.Response:
        return await answers.service(self.reader, request.match_info["namespace"], request.match_info["name"])
