"""What it costs to watch the engines of services that are not autoscaled: CPU of a round, without the HTTP of a scrape.

    python benchmarks/bench_stalls.py [--services 5000] [--pods 2]

The HTTP is that of the autoscaler (bench_scrape.py), here every thirty seconds in place of ten. The loop's lag is the
longest time for which a round let nothing else run.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from benchmarks.bench_fleet import bodies
from benchmarks.bench_scrape import lag_while
from benchmarks.fleet_server import Fleet
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.memory import settle
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.reconcilers.stall_handler import StallHandler
from llmservice.reconcilers.stall_reading import UnscaledEngines
from llmservice.reconcilers.stall_watch import StallWatch
from llmservice.signals.one_token import Answer
from llmservice.signals.source import Target
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.autoscaling.builders import counters
from tests.unit.signals.fake_engine import metric_names_of

_PERIOD_SECONDS = 30.0


class Engines:
    """All work; a reading costs nothing."""

    now = 0.0

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        """The same of each."""
        reading = Reading(counters=counters(self.now, running=3.0, generated_tokens=self.now, preemptions=0.0))
        return dict.fromkeys(targets, reading)


async def _never(_: ScaledPod, __: str) -> Answer:
    return Answer.SERVED


def filled(services: int, pods: int) -> ObjectCache:
    """A cache with so many services that serve."""
    cache = ObjectCache()
    for body in bodies(Fleet(services, pods), pods):
        cache.put(body)
    settle()
    return cache


async def measure(cache: ObjectCache, services: int, pods: int) -> None:
    """Print one row."""
    engines = Engines()
    names = metric_names_of("vllm")
    watch = StallWatch(
        cache=cache,
        unscaled=UnscaledEngines(cache=cache, sources={"Pods": engines}, metric_names=lambda *_: names),
        handler=StallHandler(
            cluster=InMemoryCluster(),
            ask=_never,
            now=lambda: datetime.fromtimestamp(engines.now, UTC),
            stall_seconds=120.0,
        ),
        changed=lambda _: None,
    )
    took, lag = 0.0, 0.0
    for number in range(4):
        engines.now = 1.8e9 + number * _PERIOD_SECONDS
        began = time.process_time()
        task = asyncio.ensure_future(watch.round())
        lag = await lag_while(task)
        took = time.process_time() - began
    print(
        f"{services} services, {services * pods} pods, {len(watch.states)} watched: {took * 1e3:.0f} ms CPU a round "
        f"({took / services * 1e6:.0f} µs a service), loop lag {lag * 1e3:.0f} ms"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=2)
    options = parser.parse_args()
    cache = filled(options.services, options.pods)
    asyncio.run(measure(cache, options.services, options.pods))


if __name__ == "__main__":
    main()
