"""What both servers of the page answer: its files, its data, and what a browser has to know of either."""

from importlib.resources import files

from aiohttp import web

from llmservice.ui.reading import Reader
from llmservice.untrusted.patterns import compiled

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
PAGE = "index.html"
_FILES = frozenset(
    {PAGE, "app.js", "chart.js", "icon.svg", "list.js", "parts.js", "service.js", "sign-in.js", "style.css", "token.js"}
)
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_LONGEST_SEARCH = 200
_MOST_DIGITS = 5
_NAME = compiled(r"[a-z0-9][-a-z0-9.]{0,252}")


def is_name(text: str) -> bool:
    """Whether something in a cluster can be called so."""
    return bool(_NAME.matches(text))


def said(status: int, message: str) -> web.Response:
    """A sentence."""
    return web.json_response({"message": message}, status=status)


def comes_from_elsewhere(request: web.BaseRequest) -> bool:
    """Whether a browser says that another site asks (the header Sec-Fetch-Site, w3.org/TR/fetch-metadata)."""
    return request.headers.get("Sec-Fetch-Site", "none") in _OTHER_SITES


def file(name: str) -> web.Response:
    """A file of the page."""
    if name not in _FILES:
        return said(404, "there is no such file")
    content = files(__package__).joinpath("static", name).read_text("utf-8")
    return web.Response(text=content, content_type=_TYPES[name.rpartition(".")[2]])


async def services(reader: Reader, request: web.BaseRequest) -> web.Response:
    """A page of services, as the query wants it."""
    page = request.query.get("page", "0")
    found = await reader.services(
        wanted=request.query.get("wanted", "")[:_LONGEST_SEARCH],
        only_unready=request.query.get("unready") == "1",
        page=int(page) if page.isdecimal() and len(page) <= _MOST_DIGITS else 0,
    )
    return web.json_response(found)


async def service(reader: Reader, namespace: str, name: str) -> web.Response:
    """One service."""
    found = await reader.service(namespace, name) if is_name(namespace) and is_name(name) else None
    return web.json_response(found) if found else said(404, f"there is no LLMService {namespace}/{name}")
