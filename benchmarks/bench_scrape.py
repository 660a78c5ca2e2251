"""CPU of reading one pod: a recorded full page of vLLM, by the targeted scan and by a full parser; then over HTTP.

Run: python benchmarks/bench_scrape.py [--pods 500]. Figures are process time of the reading side, the best of some
rounds; the aim is 0.35 ms a pod for page to Reading. The loop's lag is the CPU time by which a tick came late.
"""

import argparse
import asyncio
import multiprocessing
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from prometheus_client.parser import text_string_to_metric_families

from llmservice.converging.pod_readings import Reading
from llmservice.signals.exposition import scan
from llmservice.signals.pod_scrape import pods
from llmservice.signals.samples import reading_from, wanted
from tests.unit.signals.fake_engine import VERSIONS, a_target, metric_names_of, page, recorded

_TICK_SECONDS = 0.01


def best_milliseconds(work: Callable[[], object], rounds: int) -> float:
    """The CPU time of the quickest of some calls."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best * 1e3


def print_parsing(engine: str) -> None:
    """The scan beside a full parser."""
    metric_names, content = metric_names_of(engine), recorded(engine)
    names = wanted(metric_names)
    assert isinstance(reading_from(scan(content, names), metric_names, 0.0), Reading)
    ours = best_milliseconds(lambda: reading_from(scan(content, names), metric_names, 0.0), 300)
    full = best_milliseconds(lambda: list(text_string_to_metric_families(content.decode())), 20)
    print(f"{engine:9} {len(content) / 1e3:5.1f} kB   page to Reading {ours:6.3f} ms   full parser {full:6.3f} ms")


def serve(ready: Connection) -> None:
    """Answer with the recorded page, in a process of its own."""
    answer = page(recorded("vllm"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024

    with Server(("127.0.0.1", 0), Handler) as server:
        ready.send(server.server_address[1])
        server.serve_forever()


async def lag_while(work: asyncio.Task[object]) -> float:
    """The most CPU seconds beyond a tick's length that the loop used between two ticks, until the task ended."""
    worst = 0.0
    while not work.done():
        began = time.thread_time()
        await asyncio.sleep(_TICK_SECONDS)
        worst = max(worst, time.thread_time() - began - _TICK_SECONDS)
    return worst


async def print_scraping(port: int, count: int) -> None:
    """All pods once, over HTTP."""
    targets = [a_target(f"chat-{number}", port=port) for number in range(count)]
    async with pods() as source:
        await source.read(targets[:10])
        began, at = time.process_time(), time.perf_counter()
        round_of_all = asyncio.ensure_future(source.read(targets))
        lag = await lag_while(round_of_all)
        seconds, took = time.process_time() - began, time.perf_counter() - at
        read = sum(isinstance(result, Reading) for result in round_of_all.result().values())
    print(
        f"{read} of {count} pods over HTTP in {took:.2f} s   {seconds / count * 1e3:6.3f} ms CPU a pod   "
        f"loop lag {lag * 1e3:.0f} ms"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=500)
    options = parser.parse_args()
    for engine in VERSIONS:
        print_parsing(engine)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        asyncio.run(print_scraping(ours.recv(), options.pods))
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
