"""A registry on this machine that speaks the protocol of Ollama's, for tests: the real one cannot be asked to fail.

Paths, headers and media types are those that Ollama reads (server/{images,download,auth}.go): manifests by tag, blobs
by digest and in parts. It speaks TLS, as Ollama does with every registry. The real one redirects to a store for blobs,
and Ollama takes the address of all parts from the Location of its answer: without one it fetches nothing.
"""

import asyncio
import hashlib
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.in_a_thread import in_a_thread

_MODEL = "application/vnd.ollama.image.model"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_FACTS = {"model_format": "gguf", "model_family": "llama", "model_families": ["llama"], "model_type": "114K"}


@dataclass(slots=True)
class LocalRegistry:
    """What it has by `namespace/model:tag`, and what it was asked. Made by `local_registry`."""

    models: dict[str, bytes]
    address: str = ""
    seen: list[str] = field(default_factory=list)
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Status and text instead of the manifest, by `namespace/model:tag`."""
    wrong_bytes: bool = False
    bytes_per_second: float = 0.0
    """0: as fast as it goes."""

    def uri(self, name: str) -> str:
        """The model as `spec.model.uri` names it."""
        return f"ollama://{self.address}/{name}"

    async def manifest(self, request: web.Request) -> web.Response:
        """`/v2/NAMESPACE/MODEL/manifests/TAG`."""
        self.seen.append(request.path)
        name = f"{request.match_info['name']}:{request.match_info['tag']}"
        if name in self.answers:
            status, text = self.answers[name]
            return web.Response(status=status, text=text)
        if name not in self.models:
            return web.Response(status=404)
        config, model = _config(), self.models[name]
        document = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _layer(_CONFIG, config),
            "layers": [_layer(_MODEL, model)],
        }
        return web.json_response(document, content_type=_MANIFEST)

    async def blob(self, request: web.Request) -> web.StreamResponse:
        """`/v2/NAMESPACE/MODEL/blobs/DIGEST`, or a part of it."""
        self.seen.append(request.path)
        blobs = {_digest(blob): blob for blob in (_config(), *self.models.values())}
        if (blob := blobs.get(request.match_info["digest"])) is None:
            return web.Response(status=404)
        data = b"\0" * len(blob) if self.wrong_bytes else blob
        asked = request.http_range
        begin, end = asked.start or 0, min(asked.stop or len(data), len(data))
        response = web.StreamResponse(status=200 if asked.start is None else 206)
        response.content_length = end - begin
        response.headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
        response.headers["Location"] = str(request.url)
        await response.prepare(request)
        if request.method == "GET":
            await self._send(response, memoryview(data)[begin:end])
        return response

    async def _send(self, response: web.StreamResponse, data: memoryview) -> None:
        step = int(self.bytes_per_second / 10) or len(data) or 1
        for at in range(0, len(data), step):
            await response.write(bytes(data[at : at + step]))
            if self.bytes_per_second:
                await asyncio.sleep(0.1)


@contextmanager
def local_registry(
    models: dict[str, bytes], tls: ssl.SSLContext, *, host: str = "127.0.0.1"
) -> Iterator[LocalRegistry]:
    """The registry in a thread of its own, at an address of this machine, as long as the block runs."""
    registry = LocalRegistry(models)
    with in_a_thread(_served(registry, tls, host)):
        yield registry


@asynccontextmanager
async def _served(registry: LocalRegistry, tls: ssl.SSLContext, host: str) -> AsyncIterator[None]:
    runner = web.AppRunner(_application(registry), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, host, 0, ssl_context=tls).start()
    registry.address = f"{host}:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await runner.cleanup()


def _application(registry: LocalRegistry) -> web.Application:
    application = web.Application()
    application.router.add_get("/v2/{name:[^/]+/[^/]+}/manifests/{tag}", registry.manifest)
    application.router.add_get("/v2/{name:[^/]+/[^/]+}/blobs/{digest}", registry.blob)
    return application


def _config() -> bytes:
    return json.dumps({**_FACTS, "architecture": "amd64", "os": "linux", "rootfs": {"type": "layers"}}).encode()


def _layer(media_type: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": _digest(blob), "size": len(blob)}


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"
