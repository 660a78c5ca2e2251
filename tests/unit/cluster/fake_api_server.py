"""An API server of a few lines on loopback: each request plays the next scene of its script."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio.client import Configuration

from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import Credentials
from llmservice.objects.references import Manifest

Scene = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class FakeApiServer:
    """Scripts for calls, lists and watches. The last scene of a script is played again and again.

    `versions` answers who asks for the newest version: always a higher one, unless a test says so. `requests` and
    `bodies` are what was asked for.
    """

    calls: list[Scene] = field(default_factory=list)
    lists: list[Scene] = field(default_factory=list)
    watches: list[Scene] = field(default_factory=list)
    versions: list[Scene] = field(default_factory=lambda: [a_list(1_000_000)])
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        self.bodies.append(await request.read())
        script = self._script(request)
        return await (script.pop(0) if len(script) > 1 else script[0])(request)

    def _script(self, request: web.Request) -> list[Scene]:
        if "watch" in request.query:
            return self.watches
        if request.query.get("limit") == "1":
            return self.versions
        return self.lists if "limit" in request.query else self.calls

    def asked(self) -> int:
        """How often somebody asked for the newest version."""
        return sum(request.query.get("limit") == "1" for request in self.requests)

    def watched_from(self) -> list[str]:
        """The resource versions at which watches began."""
        return [request.query["resourceVersion"] for request in self.requests if "watch" in request.query]

    def listed(self) -> int:
        """How many pages were asked for."""
        return sum("limit" in request.query for request in self.requests) - self.asked()


def answer(status: int = 200, body: Any = None, **headers: str) -> Scene:
    """A JSON object, or text as it is; names of headers are written with underscores."""

    async def play(_: web.Request) -> web.StreamResponse:
        content = body.encode() if isinstance(body, str) else orjson.dumps(body if body is not None else {})
        return web.Response(status=status, body=content, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return play


def a_status(code: int, message: str = "", reason: str = "", **details: Any) -> Manifest:
    return {"kind": "Status", "code": code, "message": message, "reason": reason, "details": details}


def a_list(version: int, *items: Manifest, more: str = "") -> Scene:
    metadata = {"resourceVersion": str(version)} | ({"continue": more} if more else {})
    return answer(200, {"metadata": metadata, "items": list(items)})


def a_watch(*lines: bytes, then: str = "silence") -> Scene:
    """A stream that sends lines and then falls silent, ends, or is cut."""

    async def play(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            await response.write(line)
        if then == "silence":
            await asyncio.sleep(60)
        if then == "cut" and request.transport is not None:
            request.transport.abort()
        return response

    return play


def an_event(kind: str, body: Manifest) -> bytes:
    return orjson.dumps({"type": kind, "object": body}) + b"\n"


def a_bookmark(version: int) -> bytes:
    return an_event("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


@asynccontextmanager
async def serving(fake: FakeApiServer, *, timeout_seconds: float = 15.0) -> AsyncIterator[Connection]:
    """A connection to the fake server."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", fake.handle)
    server = TestServer(application)
    await server.start_server(shutdown_timeout=0.01)
    try:
        credentials = some_credentials(str(server.make_url("/")))
        async with connect(credentials, timeout_seconds=timeout_seconds) as connection:
            yield connection
    finally:
        await server.close()


def some_credentials(server: str, *tokens: str) -> Credentials:
    """Credentials that hold the first token, and the next one whenever they are read again."""
    left = list(tokens)
    configuration = Configuration()

    async def read(configuration: Configuration, *, anew: bool) -> str:  # noqa: ARG001
        if left:
            configuration.api_key["BearerToken"] = f"Bearer {left.pop(0)}"
        return ""

    if left:
        configuration.api_key["BearerToken"] = f"Bearer {left.pop(0)}"
    seconds = iter(range(0, 10_000_000, 30))  # each look at the clock is half a minute later
    return Credentials(
        server=server.rstrip("/"), tls=False, configuration=configuration, read=read, clock=lambda: next(seconds)
    )
