"""The server on loopback: one page, its data, and nobody let in but the browser that was given the address.

Any program and any web page of the machine can reach a port on loopback. The address holds a random token; a request
that names another host (DNS rebinding) or comes from another site is refused; the page loads nothing from elsewhere.
"""

import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files

from aiohttp import web

from llmservice.errors import NotFound, OperatorError
from llmservice.ui.reading import Reader
from llmservice.untrusted.patterns import compiled

LOOPBACK = "127.0.0.1"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_PAGE = "index.html"
_FILES = frozenset({_PAGE, "app.js", "chart.js", "icon.svg", "list.js", "parts.js", "service.js", "style.css"})
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_LONGEST_SEARCH = 200
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_NAME = compiled(r"[a-z0-9][-a-z0-9.]{0,252}")


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
            response = _said(error.status, error.reason)
        except NotFound as error:
            response = _said(404, str(error))
        except OperatorError as error:
            response = _said(502, str(error))
        response.headers.update(_HEADERS)
        return response

    def _refusal(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Host", "") not in {f"{LOOPBACK}:{self.port}", f"localhost:{self.port}"}:
            return _said(403, "this page is for this machine alone")
        if request.headers.get("Sec-Fetch-Site", "none") in _OTHER_SITES:
            return _said(403, "another site may not ask this page")
        given = request.path.partition("/")[2].partition("/")[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return _said(404, "open the address that `llmservice ui` printed")
        return None

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info.get("file", _PAGE)
        if name not in _FILES:
            return _said(404, "there is no such file")
        content = files(__package__).joinpath("static", name).read_text("utf-8")
        return web.Response(text=content, content_type=_TYPES[name.rpartition(".")[2]])

    async def _services(self, request: web.Request) -> web.Response:
        page = request.query.get("page", "0")
        found = await self.reader.services(
            wanted=request.query.get("wanted", "")[:_LONGEST_SEARCH],
            only_unready=request.query.get("unready") == "1",
            page=int(page) if page.isdecimal() and len(page) < 6 else 0,  # noqa: PLR2004  (a hundred thousand pages)
        )
        return web.json_response(found)

    async def _service(self, request: web.Request) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        named = _NAME.matches(namespace) and _NAME.matches(name)
        found = await self.reader.service(namespace, name) if named else None
        return web.json_response(found) if found else _said(404, f"there is no LLMService {namespace}/{name}")


def _said(status: int, message: str) -> web.Response:
    return web.json_response({"message": message}, status=status)
