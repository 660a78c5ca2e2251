"""What the activator adds to a request, what it holds in how much memory, and how soon it refuses.

Run: python benchmarks/bench_activator.py. The real process, `llmservice activate`, on an API server of a few lines;
engine and clients are one other process, which takes as much of the CPU as the activator does.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp
from aiohttp import web

from benchmarks.fleet_server import kubeconfig
from benchmarks.refusal_clients import BODY, REFUSED, REQUEST
from benchmarks.slices_server import Slices

HOST = "127.0.0.1"
PORT = 29_001
CONTROL = 29_900


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
        writers += [await sent(REQUEST) for _ in range(goal - len(writers))]
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
    """2,000 requests at the same moment against a bound of 500, from a process of their own; and that one alone."""
    await bench.sleeps(held=500)
    print("2000 at once, bound 500; milliseconds of each refusal from its own client's start:")
    for way, options in (("connections were open", ["--connected"]), ("connecting counts", [])):
        for far_end, more in (("the clients alone", ["--alone"]), ("the activator", [])):
            before = bench.cpu()
            told = await at_once(*options, *more)
            took = sorted(milliseconds for status, milliseconds in told["answers"] if status == REFUSED)
            cpu = f", CPU of the activator {(bench.cpu() - before) * 1e3:.0f} ms" * (not more)
            late = f"99 % {took[int(len(took) * 0.99)]:4.0f}   last {took[-1]:4.0f}"
            print(
                f"   {way:21} {far_end:17} {len(took)} refused, median {statistics.median(took):4.0f}   {late}   "
                f"(sent within {told['sending']:.0f}{cpu})"
            )
            await held(0)


async def at_once(*options: str) -> dict[str, Any]:
    """What the clients saw, in their own process."""
    script = str(Path(__file__).with_name("refusal_clients.py"))
    clients = await asyncio.create_subprocess_exec(
        sys.executable, script, HOST, str(PORT), "2000", "1500", *options, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await clients.communicate()
    told: dict[str, Any] = json.loads(said)
    return told


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
