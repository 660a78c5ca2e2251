"""`/healthz`, `/readyz`, `/metrics`, `/explain`, in a thread of their own: they answer while the operator's loop hangs.

kopf's own liveness endpoint always answers 200, whatever became of its watches.
"""

import asyncio
import functools
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from llmservice.controllers.health import Checks
from llmservice.errors import InvalidSpec

_SHUTDOWN_SECONDS = 1.0

Explain = Callable[[str, str], tuple[int, dict[str, Any]]]
"""Namespace and name of an LLMService → HTTP status and JSON; called from the endpoints' thread."""


@dataclass(slots=True, kw_only=True)
class Endpoints:
    """An HTTP server that runs as long as the block. Port 0 takes a free one; `port` is the real one afterwards.

    `remarks` stand where a check of the same name would say "ok". Raises `InvalidSpec` (`InvalidSetting`) when the
    port cannot be taken.
    """

    port: int
    alive: Checks
    ready: Checks
    registry: CollectorRegistry
    explain: Explain | None = None
    remarks: Checks = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _thread: threading.Thread | None = None

    async def __aenter__(self) -> Self:
        listener = _listener(self.port)
        self.port = listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=(listener,), name="endpoints", daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join, 5 * _SHUTDOWN_SECONDS)

    def _run(self, listener: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        application = web.Application()
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        application.router.add_get("/metrics", self._metrics)
        application.router.add_get("/explain/{namespace}/{name}", self._explain)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        return _verdict(self.alive, {})

    async def _readyz(self, _: web.Request) -> web.Response:
        return _verdict(self.ready, self.remarks)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _explain(self, request: web.Request) -> web.Response:
        if self.explain is None:
            raise web.HTTPNotFound
        status, answer = self.explain(request.match_info["namespace"], request.match_info["name"])
        return web.json_response(answer, status=status, dumps=functools.partial(json.dumps, indent=1))


def _listener(port: int) -> socket.socket:
    """One socket for IPv4 and IPv6, where there is IPv6: the kubelet asks the pod's first address."""
    try:
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        return socket.create_server(("", port))
    except OSError as error:
        message = f"{port} cannot be taken ({error}); choose another, or 0 for none"
        raise InvalidSpec("InvalidSetting", message, field="LLMSERVICE_PORT") from error


def _verdict(checks: Checks, remarks: Checks) -> web.Response:
    """200 or 503, and one line for each check, as the API server's own endpoints print them."""
    problems = {name: problem() for name, problem in checks.items()}
    said = {name: remarks[name]() for name in checks.keys() & remarks.keys()}
    lines = [f"[-]{name} {text}" if text else f"[+]{name} {said.get(name) or 'ok'}" for name, text in problems.items()]
    return web.Response(status=503 if any(problems.values()) else 200, text="\n".join(lines) + "\n")
