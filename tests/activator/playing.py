"""A real activator on loopback, slices as the cluster would write them, and engines that are small HTTP servers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from llmservice.activator.process import Activator
from llmservice.objects.references import Ref

HOST = "127.0.0.1"
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Engine:
    """An HTTP server in place of an engine. `seen`: paths of the requests that came, in order."""

    handle: Handler
    seen: list[str] = field(default_factory=list)
    port: int = 0
    most_at_once: int = 0
    _now: int = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append(request.rel_url.raw_path_qs)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return await self.handle(request)
        finally:
            self._now -= 1


async def echo(request: web.BaseRequest) -> web.StreamResponse:
    """The path and the size of the body, as JSON."""
    body = await request.read()
    return web.json_response({"path": request.path, "size": len(body)})


@asynccontextmanager
async def engine(handle: Handler = echo) -> AsyncIterator[Engine]:
    made = Engine(handle)
    server = await asyncio.get_running_loop().create_server(
        web.Server(made.answer, handler_cancellation=True, auto_decompress=False), HOST, 0
    )
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


@dataclass(slots=True)
class Cluster:
    """What the operator and the endpoint slice controller would write, for an activator that runs."""

    running: Activator
    _version: int = 0

    async def sleeping(self, port: int, name: str = "chat", uid: str = "1", **activation: Any) -> None:
        """The service sleeps: its Service leads to the activator, on this port."""
        await self._ours(port, name, uid, activation, in_path=True)

    async def served_directly(self, port: int, name: str = "chat", **activation: Any) -> None:
        """The Service leads to replicas alone; the port stays."""
        await self._ours(port, name, "1", activation, in_path=False)

    async def ready(self, *ports: int, name: str = "chat") -> None:
        """Replicas are ready on these ports; none when there are none."""
        for number, port in enumerate(ports):
            self._put(name, f"{name}-replica-{number}", None, port, [HOST])
        for number in range(len(ports), 8):
            self._put(name, f"{name}-replica-{number}", None, 1, [])
        await self.running.table.look()

    async def gone(self, name: str = "chat") -> None:
        """The service's slice of the operator is deleted."""
        self.running.table.slices.drop(Ref("EndpointSlice", "default", f"{name}-activator"), self._next())
        await self.running.table.look()

    async def _ours(self, port: int, name: str, uid: str, activation: dict[str, Any], *, in_path: bool) -> None:
        said = orjson.dumps({"models": [name], "concurrency": 16} | activation).decode()
        self._put(name, f"{name}-activator", said, port, [HOST] if in_path else [], uid)
        await self.running.table.look()

    def _next(self) -> int:
        self._version += 1
        return self._version

    def _put(
        self, service: str, name: str, activation: str | None, port: int, addresses: list[str], uid: str = "1"
    ) -> None:
        manager = "endpointslice-controller.k8s.io" if activation is None else "llmservice.dev"
        labels = {"kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": manager}
        metadata = {
            "name": name,
            "namespace": "default",
            "uid": uid,
            "resourceVersion": str(self._next()),
            "creationTimestamp": f"2026-01-01T00:00:0{uid[-1]}Z",
            "labels": {**labels, "llmservice.dev/name": service},
            "annotations": {} if activation is None else {"llmservice.dev/activation": activation},
        }
        slice_ = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": metadata,
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [each], "conditions": {"ready": True}} for each in addresses],
        }
        self.running.table.slices.put(slice_)


@dataclass(slots=True)
class Bench:
    """What a test works with."""

    activator: Activator
    cluster: Cluster
    client: aiohttp.ClientSession

    def url(self, port: int, path: str = "/v1/chat/completions") -> str:
        return f"http://{HOST}:{port}{path}"

    async def held(self, number: int) -> None:
        """Return when so many are held."""
        async with asyncio.timeout(20):
            while self.activator.hall.held != number:  # noqa: ASYNC110  (what counts is not told)
                await asyncio.sleep(0.005)


Start = Callable[..., Awaitable[Bench]]


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0
