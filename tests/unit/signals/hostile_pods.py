"""Pods that answer badly, each kind on a port of its own, in a process of its own: its memory is not ours.

`python -m tests.unit.signals.hostile_pods` prints the ports as JSON and serves until its input ends.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

_PIECE = b'vllm:num_requests_running{model_name="x"} 1\n' * 1024
_ROOT = Path(__file__).parents[3]


async def _send(request: web.Request, size: int) -> web.StreamResponse:
    """So many bytes without saying so beforehand."""
    response = web.StreamResponse()
    await response.prepare(request)
    while size > 0:
        await response.write(_PIECE[:size])
        size -= len(_PIECE)
    return response


async def too_large(request: web.Request) -> web.StreamResponse:
    """4 MiB."""
    return await _send(request, 4 * 2**20)


async def nearly_whole(request: web.Request) -> web.StreamResponse:
    """As much as may be, less a byte; then nothing more."""
    response = await _send(request, 2**20 - 1)
    await asyncio.sleep(60)
    return response


async def drip(request: web.Request) -> web.StreamResponse:
    """A byte now and then."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"#")
        await asyncio.sleep(0.5)


async def whole(_: web.Request) -> web.Response:
    """What vLLM answers."""
    return web.Response(body=_page())


async def of_many_engines(_: web.Request) -> web.Response:
    """What vLLM answers with eight data-parallel engines: 290 kB."""
    engines = b"".join(line + b"\n" for line in _page().split(b"\n") if b'engine="0"' in line)
    others = b"".join(engines.replace(b'engine="0"', b'engine="%d"' % number) for number in range(1, 8))
    return web.Response(body=_page() + others)


async def many_headers(_: web.Request) -> web.Response:
    """A hundred of 8 kB."""
    return web.Response(headers={f"X-Header-{number}": "x" * 8000 for number in range(100)})


async def long_header(_: web.Request) -> web.Response:
    """One of 8 kB."""
    return web.Response(headers={"X-Header": "x" * 8000})


KINDS: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
    kind.__name__: kind for kind in (too_large, nearly_whole, drip, whole, of_many_engines, many_headers, long_header)
}


def _page() -> bytes:
    return (Path(__file__).parent / "expositions" / "vllm-0.32.0.txt").read_bytes()


@contextmanager
def hostile_pods() -> Iterator[dict[str, int]]:
    """Kind → port, as long as the block runs."""
    command = [sys.executable, "-m", __name__]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=_ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        assert process.stdin
        assert process.stdout
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()


async def _serve() -> None:
    ports = {}
    for name, kind in KINDS.items():
        app = web.Application()
        app.router.add_get("/metrics", kind)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        ports[name] = runner.addresses[0][1]
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
