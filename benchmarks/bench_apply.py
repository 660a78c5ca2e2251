"""CPU of our client: per apply, and per event of a watch, against a server of a few lines in another process.

Run: python benchmarks/bench_apply.py [--applies 5000] [--at-once 16]. Figures are process time of this process alone,
the best of three. For comparison: a bare aiohttp call with orjson takes 83 to 100 µs on two shared vCPUs.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from kubernetes.aio.client import Configuration

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import Credentials
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection

_EVENTS = 20_000
_ROUNDS = 3


def a_deployment(number: int = 0, *, padding: int = 1_500) -> dict[str, Any]:
    """A Deployment of about 2 kB, twice that when the server answers."""
    container = {"name": "engine", "image": "registry.test/engine:1", "args": ["x" * 50] * (padding // 54)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "namespace": "default",
            "name": f"chat-{number}",
            "resourceVersion": str(number + 2),
            "labels": {"llmservice.dev/name": f"chat-{number}"},
        },
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
    }


def serve(listener: socket.socket) -> None:
    """Answer every PATCH with a Deployment of 4 kB, and a watch with a burst of events."""
    one = orjson.dumps(a_deployment(padding=3_500))
    burst = b"".join(
        orjson.dumps({"type": "ADDED", "object": a_deployment(number, padding=3_500)}) + b"\n"
        for number in range(_EVENTS)
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        await request.read()
        if request.method == "PATCH":
            return web.Response(body=one, content_type="application/json")
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(burst)
        await asyncio.sleep(60)
        return response

    _pin(1)
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    web.run_app(application, sock=listener, print=None, handle_signals=False)


async def apply_all(connection: Connection, applies: int, at_once: int) -> int:
    """Apply so many times, so many at once."""
    cluster, numbers = ApiServer(connection), iter(range(applies))

    async def work() -> None:
        for number in numbers:
            await cluster.apply_new(a_deployment(number), manager="bench")

    await asyncio.gather(*(work() for _ in range(at_once)))
    return applies


async def hear_all(connection: Connection) -> int:
    """Watch until the whole burst is in the cache."""
    cache, done = ObjectCache(), asyncio.Event()
    cache.listen(lambda _, __: done.set() if len(cache) == _EVENTS else None)
    informer = Informer(connection=connection, cache=cache, selection=Selection(kind="Deployment"))
    task = asyncio.create_task(informer.run())
    await done.wait()
    task.cancel()
    return _EVENTS


async def best(measured: Callable[[], Awaitable[int]]) -> float:
    """Microseconds of CPU per piece of work."""
    figures = []
    for _ in range(_ROUNDS):
        before = time.process_time()
        done = await measured()
        figures.append((time.process_time() - before) / done * 1e6)
    return min(figures)


async def run(port: int, applies: int, at_once: int) -> None:
    """Measure and print."""
    async with _connected(port) as connection:
        await apply_all(connection, 200, at_once)
        per_apply = await best(lambda: apply_all(connection, applies, at_once))
        per_event = await best(lambda: hear_all(connection))
    print(f"apply, {at_once} at once   {per_apply:6.1f} µs CPU each   {1e6 / per_apply:8.0f} a second and core")
    print(f"event of a watch     {per_event:6.1f} µs CPU each   {1e6 / per_event:8.0f} a second and core")


@contextlib.asynccontextmanager
async def _connected(port: int) -> AsyncIterator[Connection]:
    async def read(configuration: Configuration, *, anew: bool) -> str:  # noqa: ARG001
        """Nothing changes."""
        return ""

    credentials = Credentials(server=f"http://127.0.0.1:{port}", tls=False, configuration=Configuration(), read=read)
    async with connect(credentials) as connection:
        yield connection


def _pin(core: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


def main() -> None:
    """Start the server beside us and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--applies", type=int, default=5_000)
    parser.add_argument("--at-once", type=int, default=16)
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
    server.start()
    _pin(0)
    try:
        asyncio.run(run(listener.getsockname()[1], options.applies, options.at_once))
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
