"""The real HAProxy with the configuration that is rendered, before a small engine; ports and folders are moved.

The engine answers a POST to /v1/completions when it is let go, streams what `?chunks=N` asks for, and remembers the
headers of each request.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from llmservice.engines.engine import PORT, PROXIED_PORT, HttpProbe
from llmservice.engines.proxied import PROXY_METRIC_NAMES
from llmservice.planning.proxy_plan import KeysPlan, ProxyPlan
from llmservice.rendering.proxy_config import CONFIG_FILE, CONFIG_FOLDER, KEYS_SCRIPT, PROBE_PORT, proxy_config
from llmservice.rendering.proxy_keys import COMMAND, COMMAND_WITH_KEYS, KEYS_FOLDER, KEYS_LUA, LIST_FOLDER
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted

POD_UID = "0b5c1f3e-0000-4000-8000-00000000000a"
needs_haproxy = pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed (make setup)")


def probe(path: str, expects: str = "") -> HttpProbe:
    return HttpProbe(path=path, period_seconds=5, timeout_seconds=5, failures=3, expects=expects)


def a_proxy(
    *,
    running: int = 0,
    queued: int = 0,
    keys: bool = False,
    connections: int = 200,
    health: HttpProbe | None = None,
    stop_seconds: int = 20,
    client_paths: tuple[str, ...] = (),
) -> ProxyPlan:
    """A plan. With `running` requests at once it measures for the engine."""
    ready = health or probe("/health")
    return ProxyPlan(
        image="haproxy",
        pull_policy="IfNotPresent",
        measures=bool(running),
        running=running,
        queued=queued,
        connections=connections,
        keys=KeysPlan(name="clients") if keys else None,
        probes=(ready, ready, probe("/version")),
        security={},
        resource_requests={},
        resource_limits={},
        stop_seconds=stop_seconds,
        client_paths=client_paths,
    )


@dataclass(slots=True)
class Engine:
    """What the proxy stands before."""

    running: int = 0
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    headers: list[dict[str, str]] = field(default_factory=list)
    health: str = "ok"
    aborted: int = 0

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**26)
        app.router.add_get("/{path:health|version|api/ps}", self._health)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_post("/v1/completions", self._answer)
        return app

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(text=self.health)

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(text="engine_running 0\n")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.running += 1
        try:
            if "chunks" in request.query:
                return await self._stream(request, int(request.query["chunks"]))
            await self.let_go.wait()
            return web.Response(text="done")
        except (asyncio.CancelledError, ConnectionError):
            self.aborted += 1
            raise
        finally:
            self.running -= 1

    async def _stream(self, request: web.Request, chunks: int) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for number in range(chunks):
            await response.write(b"data: %d\n\n" % number)
            await asyncio.sleep(0.05)
        await response.write(b"data: [DONE]\n\n")
        return response


@dataclass(slots=True)
class Lab:
    """A proxy that runs. `keys` is the folder in which it finds the keys of clients."""

    engine: Engine
    process: asyncio.subprocess.Process
    port: int
    probe_port: int
    keys: Path
    log: Path
    session: aiohttp.ClientSession
    engine_port: int

    @property
    def engine_url(self) -> str:
        return f"http://127.0.0.1:{self.engine_port}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def probes(self) -> str:
        return f"http://127.0.0.1:{self.probe_port}"

    async def ask(self, key: str = "", *, chunks: int | None = None, header: str = "") -> tuple[int, str]:
        """Status and text of the answer."""
        headers = {header or "Authorization": key if header else f"Bearer {key}"} if key else {}
        params = {} if chunks is None else {"chunks": str(chunks)}
        async with self.session.post(f"{self.url}/v1/completions", json={}, headers=headers, params=params) as response:
            return response.status, await response.text()

    async def get(self, url: str) -> tuple[int, str]:
        async with self.session.get(url) as response:
            return response.status, await response.text()

    async def reading(self) -> tuple[float, float, float | None, float]:
        """Running, waiting, finished and rejected, read as the operator reads them."""
        _, page = await self.get(f"{self.url}/metrics")
        read = reading_from(scan(page.encode(), wanted(PROXY_METRIC_NAMES)), PROXY_METRIC_NAMES, at=1.0)
        counters = getattr(read, "counters", None)
        assert counters is not None, read
        return counters.running, counters.waiting, counters.finished, counters.rejected

    async def until(self, running: float, waiting: float = 0.0) -> None:
        """Wait until so many requests run and wait."""

        async def so_many() -> bool:
            return (await self.reading())[:2] == (running, waiting)

        await eventually(so_many)


async def eventually(check: Callable[[], bool | Awaitable[bool]]) -> None:
    """Look again and again until it is so; raises TimeoutError after ten seconds."""
    async with asyncio.timeout(10):
        while True:
            found = check()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def a_lab(plan: ProxyPlan, folder: Path, keys: dict[str, str] | None = None) -> AsyncIterator[Lab]:
    """Engine and proxy, as long as the block runs. `keys` are the entries of the Secret."""
    ports = _free_ports(3)
    for name in ("etc", "keys", "run"):
        (folder / name).mkdir()
    for name, text in (keys or {}).items():
        (folder / "keys" / name).write_text(text)
    (folder / "etc" / CONFIG_FILE).write_text(_moved(proxy_config(plan), folder, ports))
    (folder / "etc" / KEYS_SCRIPT).write_text(_moved(KEYS_LUA, folder, ports))
    command = [_moved(word, folder, ports) for word in (COMMAND_WITH_KEYS if plan.keys else COMMAND)]
    async with _engine(ports[1]) as engine, _process(command, folder / "log") as process, _session() as session:
        lab = Lab(engine, process, ports[0], ports[2], folder / "keys", folder / "log", session, ports[1])
        await _started(lab)
        yield lab


@contextlib.asynccontextmanager
async def _engine(port: int) -> AsyncIterator[Engine]:
    engine = Engine()
    runner = web.AppRunner(engine.app(), handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield engine
    finally:
        engine.let_go.set()
        await runner.cleanup()


@contextlib.asynccontextmanager
async def _process(command: list[str], log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """In a group of its own, so that all of it ends."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=output, stderr=output, start_new_session=True, env={**os.environ, "POD_UID": POD_UID}
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


async def _started(lab: Lab) -> None:
    async with asyncio.timeout(10):
        while lab.process.returncode is None:
            try:
                if (await lab.get(f"{lab.probes}/alive"))[0] == 200:
                    return
            except aiohttp.ClientError:
                await asyncio.sleep(0.05)
    raise AssertionError(lab.log.read_text())


def _moved(text: str, folder: Path, ports: list[int]) -> str:
    moves = {
        f"bind *:{PORT}": f"bind 127.0.0.1:{ports[0]}",
        f"127.0.0.1:{PROXIED_PORT}": f"127.0.0.1:{ports[1]}",
        f"bind *:{PROBE_PORT}": f"bind 127.0.0.1:{ports[2]}",
        CONFIG_FOLDER: str(folder / "etc"),
        LIST_FOLDER: str(folder / "run"),
        f"ls {KEYS_FOLDER} ": f"ls {folder / 'keys'} ",
        f'"{KEYS_FOLDER}/"': f'"{folder / "keys"}/"',
        "sleep 5": "sleep 0.2",
        "READ_EVERY = 5": "READ_EVERY = 1",
    }
    for before, after in moves.items():
        text = text.replace(before, after)
    return text


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
