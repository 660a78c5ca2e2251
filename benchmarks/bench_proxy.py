"""What the proxy before an engine adds to a request: the same small answer from the engine itself and through HAProxy.

Run: python benchmarks/bench_proxy.py [--requests 500]. Needs haproxy. Milliseconds for one request after the other,
each on a connection of its own: median and 99th percentile.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp

from tests.unit.proxy.lab import Lab, a_lab, a_proxy

_KEYS = {f"team-{number}": f"sk-{number:032}" for number in range(1000)}
_KEY = _KEYS["team-500"]


async def measured(lab: Lab, url: str, requests: int) -> list[float]:
    """Milliseconds of each request."""
    took: list[float] = []
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": f"Bearer {_KEY}"}) as session:
        lab.engine.let_go.set()
        for _ in range(requests):
            began = time.perf_counter()
            async with session.post(f"{url}/v1/completions", json={"prompt": "hello"}) as answer:
                answer.raise_for_status()
                await answer.read()
            took.append((time.perf_counter() - began) * 1e3)
    return took


async def run(requests: int) -> None:
    """Print a row for each way to the engine."""
    plans = {"measures": (a_proxy(running=8, queued=100), {}), "1000 keys": (a_proxy(keys=True), _KEYS)}
    for name, (plan, keys) in plans.items():
        with tempfile.TemporaryDirectory() as folder:
            async with a_lab(plan, Path(folder), keys) as lab:
                for way, url in (("the engine itself", lab.engine_url), (f"the proxy, {name}", lab.url)):
                    await measured(lab, url, 20)
                    took = sorted(await measured(lab, url, requests))
                    late = took[int(len(took) * 0.99)]
                    print(f"{way:22} median {statistics.median(took):6.2f} ms   99 % {late:6.2f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=500)
    asyncio.run(run(parser.parse_args().requests))
