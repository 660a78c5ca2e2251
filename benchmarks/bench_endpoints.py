"""How long a probe waits while many read the metrics of many services.

Run: python benchmarks/bench_endpoints.py [--services 1000] [--clients 100] [--seconds 30]. The server, those who scrape
and the one who probes are processes of their own. Nobody is rationed here, and nobody is asked for a token.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import sys
import threading
import time
from functools import partial
from http.client import HTTPConnection, HTTPException
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from llmservice.controllers.endpoints.routes import Probes, metrics_server, probe_server
from llmservice.controllers.metrics.instruments import Metrics
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.objects.references import Manifest
from llmservice.settings import Settings

_CONDITIONS = ("Ready", "Available", "Progressing", "Stalled", "ScalingActive", "MetricsAvailable")


def a_service(number: int) -> Manifest:
    """A resource as the cache holds it, as far as metrics read it."""
    status = {"replicas": 1, "desiredReplicas": 1, "readyReplicas": 1, "plan": {"accelerator": "L4"}}
    return {
        "kind": "LLMService",
        "metadata": {"namespace": f"team-{number % 50}", "name": f"chat-{number}"},
        "spec": {"engine": "vllm", "model": {"uri": "hf://Qwen/Qwen2.5-7B-Instruct-AWQ"}},
        "status": status | {"conditions": [{"type": name, "status": "True"} for name in _CONDITIONS]},
    }


async def serve(count: int, ready: Connection) -> None:
    """Both servers, until the process is ended."""
    metrics, services = Metrics(), ServiceSeries()
    for number in range(count):
        services.observe(None, a_service(number))
    metrics.registry.register(services)
    probes = probe_server(0, Probes(alive={"loop": str}, ready={}))
    figures = metrics_server(Settings(metrics_auth="none"), metrics.registry, lambda *_: (404, {}))
    figures.newcomers = TokenBuckets(burst=10**9, seconds=1e-9)
    async with probes, figures:
        ready.send((probes.port, figures.port))
        await asyncio.Event().wait()


def run_server(count: int, ready: Connection) -> None:
    """In a process of its own."""
    asyncio.run(serve(count, ready))


def seconds_for(port: int, path: str) -> tuple[float, int]:
    """How long an answer takes, and its bytes."""
    began, connection = time.monotonic(), HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path)
        size = len(connection.getresponse().read())
    return time.monotonic() - began, size


def scrape_for_ever(port: int, clients: int, answered: Connection) -> None:
    """As many as asked for, each again as soon as it has its answer."""
    counts = [0] * clients

    def scrape(client: int) -> None:
        while True:
            with contextlib.suppress(OSError, HTTPException):
                seconds_for(port, "/metrics")
                counts[client] += 1

    for client in range(clients):
        threading.Thread(target=scrape, args=(client,), daemon=True).start()
    answered.recv()
    answered.send(sum(counts))


def probed(port: int, seconds: float) -> list[float]:
    """Seconds of each probe, ten a second, sorted."""
    end, waits = time.monotonic() + seconds, []
    while time.monotonic() < end:
        waits.append(seconds_for(port, "/healthz")[0])
        time.sleep(0.1)
    return sorted(waits)


def line(name: str, waits: list[float]) -> str:
    """Median, 99th percentile and the longest, in milliseconds."""
    shown = (waits[len(waits) // 2], waits[int(0.99 * len(waits))], waits[-1])
    return f"{name:44} {len(waits):4} probes   p50 {{:.1f}}   p99 {{:.1f}}   longest {{:.1f}} ms".format(
        *(1000 * each for each in shown)
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    process = partial(multiprocessing.get_context("spawn").Process, daemon=True)
    ours, theirs = multiprocessing.Pipe()
    server = process(target=run_server, args=(options.services, theirs))
    server.start()
    probes, figures = ours.recv()
    seconds, size = seconds_for(figures, "/metrics")
    print(f"one scrape of {options.services} services: {size / 1e6:.2f} MB in {1000 * seconds:.0f} ms")
    print(line("nobody reads metrics", probed(probes, options.seconds / 3)))
    ours, theirs = multiprocessing.Pipe()
    scraping = process(target=scrape_for_ever, args=(figures, options.clients, theirs))
    scraping.start()
    time.sleep(2)
    print(line(f"{options.clients} clients read metrics without a pause", probed(probes, options.seconds)))
    ours.send(None)
    print(f"scrapes answered meanwhile: {ours.recv()}")


if __name__ == "__main__":
    main()
