"""A real S3 server on this machine (VersityGW), behind a proxy that counts and breaks what it serves.

The proxy changes neither paths nor headers of a request, so that signatures stay right.
"""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import obstore
import requests
from aiohttp import web
from obstore.store import S3Store

from sandbox.build_s3 import s3_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from sandbox.waiting import wait_until
from tests.in_a_thread import in_a_thread
from tests.ports import free_port

BUCKET = "models"
KEY, SECRET = "test-key", "test-secret"
_CHUNK = 2**16
_HOP_BY_HOP = {"transfer-encoding", "connection", "keep-alive"}


@dataclass(slots=True)
class S3Fault:
    """What happens, `times` over, to GET requests whose path holds `path`."""

    path: str
    times: int = 1_000_000
    status: int = 0
    after: int | None = None
    wrong: bool = False


@dataclass(slots=True)
class LocalS3:
    """Where it is, what goes wrong, what it served. `more` are headers of every answer. Made by `local_s3`."""

    backend: str
    url: str = ""
    faults: list[S3Fault] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)
    served: int = 0
    asked: int = 0
    bytes_per_second: float = 0.0

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to know."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }

    def put(self, name: str, data: bytes, *, parts_of: int = 0) -> None:
        """An object, in one part or in parts of so many bytes."""
        more: dict[str, Any] = {"use_multipart": bool(parts_of)} | ({"chunk_size": parts_of} if parts_of else {})
        obstore.put(self._store(), name, data, **more)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """What the server answers, or what a fault makes of it."""
        self.asked += 1
        fault = self._fault(request)
        if fault and fault.status:
            return web.Response(status=fault.status, text="<Error><Code>SlowDown</Code></Error>")
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method,
                f"{self.backend}{request.raw_path}",
                headers=request.headers,
                data=await request.read() or None,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            ) as behind,
        ):
            headers = {name: value for name, value in behind.headers.items() if name.lower() not in _HOP_BY_HOP}
            response = web.StreamResponse(status=behind.status, headers={**headers, **self.more})
            await response.prepare(request)
            with contextlib.suppress(ConnectionError):
                await self._send(request, response, behind, fault)
            return response

    async def _send(
        self, request: web.Request, response: web.StreamResponse, behind: aiohttp.ClientResponse, fault: S3Fault | None
    ) -> None:
        sent = 0
        async for chunk in behind.content.iter_chunked(_CHUNK):
            if fault and fault.after is not None and sent >= fault.after:
                if request.transport:
                    request.transport.abort()
                return
            changed = bytes([chunk[0] ^ 0xFF]) + chunk[1:] if fault and fault.wrong and not sent else chunk
            await response.write(changed)
            sent += len(chunk)
            self.served += len(chunk)
            if self.bytes_per_second:
                await asyncio.sleep(len(chunk) / self.bytes_per_second)

    def _fault(self, request: web.Request) -> S3Fault | None:
        for fault in self.faults:
            if request.method == "GET" and fault.path in request.raw_path and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def _store(self) -> Any:
        return S3Store(
            BUCKET,
            access_key_id=KEY,
            secret_access_key=SECRET,
            region="us-east-1",
            endpoint=self.backend,
            client_options={"allow_http": True},
        )


@contextmanager
def local_s3(folder: Path) -> Iterator[LocalS3]:
    """The server and its proxy, as long as the block runs, with an empty bucket; its objects lie in `folder`."""
    data, side, port = folder / "data", folder / "side", free_port()
    for each in (data / BUCKET, side):
        each.mkdir(parents=True)
    program = s3_build().ensure(cache_folder(), Progress()) / "versitygw"
    command = [str(program), "--access", KEY, "--secret", SECRET, "--port", f"127.0.0.1:{port}", "--quiet"]
    posix = ["posix", "--sidecar", str(side), str(data)]
    server = subprocess.Popen([*command, *posix], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        s3 = LocalS3(f"http://127.0.0.1:{port}")
        with in_a_thread(_served(s3)):
            wait_until(lambda: _answers(s3.backend), "the S3 server", timeout_seconds=15)
            yield s3
    finally:
        server.terminate()
        server.wait(10)


def _answers(url: str) -> bool:
    try:
        return bool(requests.get(url, timeout=1).status_code)
    except requests.ConnectionError:
        return False


@asynccontextmanager
async def _served(s3: LocalS3) -> AsyncIterator[None]:
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", s3.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    s3.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await runner.cleanup()
