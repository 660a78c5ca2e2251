"""Asking the operator's endpoints as kubelet and Prometheus do."""

import ssl

import aiohttp

from llmservice.controllers.http_messages import Request
from llmservice.controllers.http_server import HttpServer

UNCHECKED = ssl.create_default_context()
UNCHECKED.check_hostname, UNCHECKED.verify_mode = False, ssl.CERT_NONE


async def ask(server: HttpServer, path: str, *, by: str = "http", **headers: str) -> tuple[int, str]:
    """Status and text; names of headers are written with underscores. Certificates are not checked."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"{by}://127.0.0.1:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, headers=named, ssl=UNCHECKED) as response:
        return response.status, await response.text()


def a_request(path: str = "/metrics", *, address: str = "10.0.0.1", token: str = "", **headers: str) -> Request:
    """A request as a handler sees it."""
    shown = {"authorization": f"Bearer {token}"} if token else {}
    return Request(method="GET", path=path, headers=shown | headers, address=address)
