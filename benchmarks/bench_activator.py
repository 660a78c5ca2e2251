"""What the activator adds to a request, what it holds in how much memory, and how soon it refuses.

Run: python benchmarks/bench_activator.py. The real process, `llmservice activate`, on an API server of a few lines;
engine and clients are one other process, which takes as much of the CPU as the activator does.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp
from aiohttp import web

from benchmarks.fleet_server import kubeconfig
from benchmarks.slices_server import Slices

HOST = "127.0.0.1"
PORT = 29_001
CONTROL = 29_900
BODY = b'{"model": "chat", "messages": [{"role": "user", "content": "' + b"word " * 200 + b'"}]}'
HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nHost: chat\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()


@dataclass(slots=True)
class Bench:
    """The process under test, and what it reads."""

    slices: Slices
    pid: int
    engine: int

    async def sleeps(self, held: int = 10_000) -> None:
        """No replica is ready."""
        self.slices.ours("chat", PORT, HOST, concurrency=64, maxHeld=held)
        self.slices.replicas("chat", self.engine)
        await told(503)

    async def awakes(self) -> None:
        """One replica is ready."""
        self.slices.replicas("chat", self.engine, HOST)
        await told(200)

    def resident(self) -> float:
        """MiB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def cpu(self) -> float:
        """Seconds so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def answered(request: web.BaseRequest) -> web.StreamResponse:
    """A short completion."""
    await request.read()
    return web.json_response({"choices": [{"message": {"content": "word " * 50}}]})


@asynccontextmanager
async def a_bench() -> AsyncIterator[Bench]:
    """An activator that is ready, as long as the block runs."""
    loop, slices = asyncio.get_running_loop(), Slices()
    slices.ours("chat", PORT, HOST)
    api = await loop.create_server(web.Server(slices.answer), HOST, 0)
    engine = await loop.create_server(web.Server(answered), HOST, 0, backlog=4096)
    server, engine_port = (each.sockets[0].getsockname()[1] for each in (api, engine))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        config.write(kubeconfig(f"http://{HOST}:{server}"))
        config.flush()
        options = ["--kubeconfig", config.name, "--address", HOST, "--control-port", str(CONTROL), "--held", "10000"]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "llmservice", "activate", *options, "--grace-seconds", "6"
        )
        try:
            await ready()
            yield Bench(slices, process.pid, engine_port)
        finally:
            process.kill()
            await process.wait()


async def ready() -> None:
    """Return when the activator has listed its slices."""
    async with asyncio.timeout(60), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"http://{HOST}:{CONTROL}/readyz") as answer:
                    if answer.ok:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.2)


async def latencies(port: int, requests: int, at_once: int) -> tuple[list[float], float]:
    """Milliseconds of each request, sorted, and requests a second; `at_once` clients send one after the other."""
    took: list[float] = []

    async def client(session: aiohttp.ClientSession) -> None:
        for _ in range(requests // at_once):
            began = time.perf_counter()
            async with session.post(f"http://{HOST}:{port}/v1/chat/completions", data=BODY) as answer:
                answer.raise_for_status()
                await answer.read()
            took.append((time.perf_counter() - began) * 1e3)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.perf_counter()
        await asyncio.gather(*(client(session) for _ in range(at_once)))
        return sorted(took), len(took) / (time.perf_counter() - began)


async def passing_on(bench: Bench, requests: int) -> None:
    """The same requests to the engine itself and through the activator."""
    await bench.awakes()
    for at_once in (1, 32):
        rates = {}
        for way, port in (("the engine itself", bench.engine), ("the activator", PORT)):
            await latencies(port, 100, at_once)
            before = bench.cpu()
            took, rates[way] = await latencies(port, requests, at_once)
            cpu = (bench.cpu() - before) / len(took) * 1e6
            print(
                f"{way:18} {at_once:3} at once: {rates[way]:6.0f}/s   median {statistics.median(took):6.2f} ms   "
                f"99 % {took[int(len(took) * 0.99)]:6.2f} ms   CPU of the activator {cpu:4.0f} µs each"
            )
        print(f"   of the engine's own rate: {rates['the activator'] / rates['the engine itself']:.2f}")


async def holding(bench: Bench) -> None:
    """Memory at so many held requests, each with a body of 1 kB; and of 64 kB."""
    await bench.sleeps()
    empty = bench.resident()
    print(f"held     0: {empty:6.1f} MiB")
    writers: list[asyncio.StreamWriter] = []
    for goal in (1000, 5000):
        writers += [await sent(HEAD + BODY) for _ in range(goal - len(writers))]
        await held(goal)
        more = bench.resident() - empty
        each = more * 1024 / goal
        print(f"held {goal:5}: {empty + more:6.1f} MiB, {each:.1f} KiB for each request of {len(BODY)} bytes")
    await bench.awakes()
    await held(0)
    for writer in writers:
        writer.close()
    print(f"afterwards: {bench.resident():6.1f} MiB")


async def holding_large(bench: Bench) -> None:
    """Memory at 500 held requests whose clients have sent a megabyte of a hundred. The last to be measured."""
    await bench.sleeps()
    before = bench.resident()
    head = b"POST /v1/x HTTP/1.1\r\nHost: chat\r\nContent-Length: 100000000\r\n\r\n"
    writers = [await sent(head + b"x" * 1_000_000) for _ in range(500)]
    await held(500)
    await asyncio.sleep(2)
    more = bench.resident() - before
    print(f"held   500 of 100 MB: {more * 1024 / 500:.1f} KiB for each, which count as 64 KiB and the head")
    for writer in writers:
        writer.transport.abort()


async def refusing(bench: Bench) -> None:
    """2,000 requests at the same moment against a bound of 500."""
    await bench.sleeps(held=500)
    connections = [await asyncio.open_connection(HOST, PORT) for _ in range(2000)]
    took: list[float] = []

    async def refused(reader: asyncio.StreamReader, began: float) -> None:
        line = await reader.readline()
        if b" 503 " in line:
            took.append((time.perf_counter() - began) * 1e3)

    began = time.perf_counter()
    for _, writer in connections:
        writer.write(HEAD + BODY)
    sending = (time.perf_counter() - began) * 1e3
    tasks = [asyncio.create_task(refused(reader, began)) for reader, _ in connections]
    while len(took) < len(connections) - 500:  # noqa: ASYNC110  (the others wait for long)
        await asyncio.sleep(0.01)
    took.sort()
    print(
        f"2000 at once, bound 500: {len(took)} refused, median {took[750]:.0f} ms, last {took[-1]:.0f} ms after the "
        f"first was sent (sending them took {sending:.0f} ms)"
    )
    for task, (_, writer) in zip(tasks, connections, strict=True):
        task.cancel()
        writer.close()
    await held(0)


async def told(status: int) -> None:
    """Return when the activator has read what the slices say: a GET of anything is refused, or passed on."""
    async with asyncio.timeout(60), aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"http://{HOST}:{PORT}/v1/anything") as answer:
                if answer.status == status:
                    return
            await asyncio.sleep(0.1)


async def sent(data: bytes) -> asyncio.StreamWriter:
    """A connection on which this was written."""
    _, writer = await asyncio.open_connection(HOST, PORT)
    writer.write(data)
    return writer


async def held(number: int) -> None:
    """Return when so many are held."""
    async with asyncio.timeout(120), aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"http://{HOST}:{CONTROL}/held") as answer:
                ports = (await answer.json())["ports"]
            if ports.get(str(PORT), {"held": 0})["held"] == number:
                return
            await asyncio.sleep(0.1)


async def run(requests: int) -> None:
    """Print all figures."""
    async with a_bench() as bench:
        await holding(bench)
        await refusing(bench)
        await passing_on(bench, requests)
        await holding_large(bench)
    print(f"load of the machine: {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=3000)
    asyncio.run(run(parser.parse_args().requests))
