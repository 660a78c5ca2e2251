"""Asking the operator's endpoints as kubelet and Prometheus do."""

import asyncio
import ssl
from collections.abc import Sequence

import aiohttp
from aiohttp import web
from aiohttp.http import HttpRequestParser, StreamWriter

from llmservice.controllers.endpoints.http_server import HttpServer

UNCHECKED = ssl.create_default_context()
UNCHECKED.check_hostname, UNCHECKED.verify_mode = False, ssl.CERT_NONE


async def ask(server: HttpServer, path: str, *, by: str = "http", **headers: str) -> tuple[int, str]:
    """Status and text; names of headers are written with underscores. Certificates are not checked."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"{by}://127.0.0.1:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, headers=named, ssl=UNCHECKED) as response:
        return response.status, await response.text()


async def nothing(_: web.BaseRequest) -> web.Response:
    return web.Response()


def a_request(path: str = "/metrics", *, address: str = "10.0.0.1", token: str = "", **headers: str) -> web.BaseRequest:
    """A request as a handler sees it, read by the server's own parser."""
    shown = {"host": "x"} | ({"authorization": f"Bearer {token}"} if token else {}) | headers
    return as_read(path, [f"{name}: {value}" for name, value in shown.items()], address)


def as_read(path: str, headers: Sequence[str], address: str = "10.0.0.1") -> web.BaseRequest:
    """The same from lines of a head; belongs to the running loop."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    protocol = web.RequestHandler(web.Server(nothing), loop=loop)
    parser = HttpRequestParser(protocol, loop, 2**16)
    ((message, payload),), _, _ = parser.feed_data("\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode())
    assert task
    return web.BaseRequest(message, payload, protocol, StreamWriter(protocol, loop), task, loop, remote=address)
