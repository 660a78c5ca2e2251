"""What a fleet costs one operator, past what a machine can run: CPU per event and memory per service, in simulation.

    python benchmarks/bench_fleet.py [--sizes 5000 20000 50000] [--pods 2] [--events 5000]

No cluster and no network: the objects of a fleet (`fleet_server.py`) are put into the cache as a list does, up to 5,000
services are looked at once, and then events come in random order: a pod changes, its service is queued, and looked at.
Each size has a process of its own. Flat columns mean that nothing is searched or copied that grows with the fleet.
"""

import argparse
import asyncio
import gc
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from benchmarks.fleet_server import NAMESPACE, Fleet
from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.memory import settle
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.controllers.triggers import enqueue_owner
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.work_queue import WorkQueue
from llmservice.reconcilers.workers import ServiceKey
from llmservice.rendering.manifests import CHILD_KINDS
from tests.in_memory_cluster.cluster import InMemoryCluster

_HEAD = "services    pods  list µs/service  first pass µs  event µs  pass µs  kB/service  RSS MiB  writes"


def bodies(fleet: Fleet, pods: int) -> Iterator[Manifest]:
    """Every object of the fleet, one at a time."""
    for kind in fleet.texts:
        for number in range(fleet.services):
            body: Manifest = {**orjson.loads(fleet.item(kind, number)), "kind": kind}
            body["metadata"]["resourceVersion"] = "5"
            yield body
            for copy in range(1, pods if kind == "Pod" else 1):
                name, uid = f"{body['metadata']['name'][:-1]}{copy}", f"{body['metadata']['uid'][:-2]}{50 + copy}"
                yield {**body, "metadata": {**body["metadata"], "name": name, "uid": uid}}


def measure(services: int, pods: int, events: int) -> str:
    """One row of the table."""
    fleet, cache, queue = Fleet(services, pods), ObjectCache(), WorkQueue[ServiceKey]()
    series = ServiceSeries()
    cache.listen(series.observe)
    settle()
    before = _rss()
    listing = _fill(cache, bodies(fleet, pods))
    settle()
    grown = (_rss() - before) / services
    cluster = InMemoryCluster(cache=cache)
    reconcile = LLMServiceReconciler(
        cluster=cluster,
        cache=cache,
        observer=Observer(cluster=cluster, cache=cache, child_kinds=CHILD_KINDS),
        plan=CataloguePlanner(load_catalogue()),
        now=lambda: datetime.now(UTC),
    )
    keys = [(NAMESPACE, f"chat-{number:06d}") for number in range(services)]
    first = _passes(reconcile, random.sample(keys, min(services, 5000)))
    cache.listen(partial(enqueue_owner, queue))
    told, passed = asyncio.run(_events(cache, queue, reconcile, events))
    return (
        f"{services:8} {services * pods:7} {1e6 * listing / services:16.0f} {1e6 * first:14.0f} {1e6 * told:9.0f} "
        f"{1e6 * passed:8.0f} {grown / 1000:11.1f} {_rss() / 2**20:8.0f} {len(cluster.writes):7}"
    )


def _fill(cache: ObjectCache, objects: Iterable[Manifest]) -> float:
    """CPU seconds of the cache's own work."""
    spent = 0.0
    for body in objects:
        began = time.process_time_ns()
        cache.put(body)
        spent += (time.process_time_ns() - began) / 1e9
    return spent


def _passes(reconcile: LLMServiceReconciler, keys: list[ServiceKey]) -> float:
    async def all_of_them() -> None:
        for key in keys:
            await reconcile(key)

    began = time.process_time()
    asyncio.run(all_of_them())
    return (time.process_time() - began) / len(keys)


async def _events(
    cache: ObjectCache, queue: WorkQueue[ServiceKey], reconcile: LLMServiceReconciler, events: int
) -> tuple[float, float]:
    """CPU seconds of an event until its service is queued, and of the pass that it leads to."""
    pods = [pod["metadata"]["name"] for pod in cache.of_kind("Pod")]
    told = passed = 0.0
    for number in range(events):
        live = cache.get(Ref("Pod", NAMESPACE, random.choice(pods)))  # noqa: S311  (nothing secret)
        assert live is not None
        metadata = {**live["metadata"], "resourceVersion": str(10 + number)}
        began = time.process_time()
        cache.put({**live, "metadata": metadata})
        told += time.process_time() - began
        key = (NAMESPACE, metadata["labels"]["llmservice.dev/name"])
        began = time.process_time()
        queue.add(key)
        await reconcile(await queue.take())
        queue.done(key)
        passed += time.process_time() - began
    return told / events, passed / events


def _rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 50_000], metavar="SERVICES")
    parser.add_argument("--pods", type=int, default=2, help="pods of each service")
    parser.add_argument("--events", type=int, default=5_000)
    options = parser.parse_args()
    if len(options.sizes) == 1:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)  # as the operator does
        print(measure(options.sizes[0], options.pods, options.events), flush=True)
        return 0
    print(_HEAD, flush=True)
    for services in options.sizes:
        rest = ["--pods", str(options.pods), "--events", str(options.events)]
        subprocess.run([sys.executable, __file__, "--sizes", str(services), *rest], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
