"""An API server of a few lines that has EndpointSlices, and tells who watches them of each change."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

_GROUP = "llmservice.dev"


@dataclass(slots=True)
class Slices:
    """The EndpointSlices of services that may sleep."""

    _items: dict[str, dict[str, Any]] = field(default_factory=dict)
    _watching: set[asyncio.Queue[bytes]] = field(default_factory=set)
    _version: int = 1000

    def ours(self, service: str, port: int, *addresses: str, **activation: Any) -> None:
        """The operator's slice of a service: activators at these addresses."""
        said = orjson.dumps({"models": [service]} | activation).decode()
        self._put(service, f"{service}-activator", _GROUP, port, addresses, {f"{_GROUP}/activation": said})

    def replicas(self, service: str, port: int, *addresses: str) -> None:
        """The slice of the endpoint slice controller: ready replicas at these addresses."""
        self._put(service, f"{service}-x7k2p", "endpointslice-controller.k8s.io", port, addresses, {})

    def _put(
        self, service: str, name: str, manager: str, port: int, addresses: tuple[str, ...], annotations: dict[str, str]
    ) -> None:
        self._version += 1
        labels = {"kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": manager}
        moment = "2026-01-01T00:00:00Z"
        metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": moment}
        metadata |= {"resourceVersion": str(self._version), "annotations": annotations}
        body = {
            "metadata": {**metadata, "labels": {**labels, f"{_GROUP}/name": service}},
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
            "endpoints": [{"addresses": [each], "conditions": {"ready": True}} for each in addresses],
        }
        kind = "MODIFIED" if name in self._items else "ADDED"
        self._items[name] = body
        for queue in self._watching:
            queue.put_nowait(orjson.dumps({"type": kind, "object": body}) + b"\n")

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """As an API server does, as far as an activator asks."""
        if "watch" in request.query:
            return await self._watch(request)
        metadata = {"resourceVersion": str(self._version)}
        return web.json_response({"metadata": metadata, "items": list(self._items.values())})

    async def _watch(self, request: web.BaseRequest) -> web.StreamResponse:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._watching.add(queue)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        try:
            while True:
                await response.write(await queue.get())
        finally:
            self._watching.discard(queue)
