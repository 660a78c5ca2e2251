"""What each call of a reconcile costs: CPU of the API server, of etcd, and of our client, in milliseconds a call.

    python benchmarks/bench_calls.py [--count 200]

Starts the sandbox `bench` and plays the operator, one kind of call after the other, eight at once, with nothing else to
do: a lower bound for what the scale bench measures. The Deployments ask for no replicas. CPU is read from the
processes' own clocks; what they do while nothing is asked of them is the first row.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scale import workload
from benchmarks.scale.__main__ import prepare
from benchmarks.scale.measuring import cluster_cpu
from llmservice.cli.render import render_resource
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.objects.references import Manifest, Ref
from sandbox import Sandbox
from tests.scenarios.world import World

_AT_ONCE = 8
_REST_SECONDS = 2.0

Call = Callable[[int], Awaitable[object]]


def the_calls(connection: Connection, status: Manifest) -> list[tuple[str, Call]]:
    """Name and call, in an order in which they can be made."""
    api = ApiServer(connection)

    def read(kind: str) -> Call:
        return lambda number: api.get(Ref(kind, workload.NAMESPACE, workload.name_of(number)))

    def apply(kind: str) -> Call:
        return lambda number: api.apply_new(_child(kind, number), manager="bench")

    def tell(url: str) -> Call:
        told = {**status, "url": url}
        return lambda number: api.apply_status({**_bare(number), "status": told}, manager="bench")

    return [
        ("nothing", lambda _: asyncio.sleep(0)),
        ("create LLMService", lambda number: workload.create_one(connection, number)),
        ("read LLMService", read("LLMService")),
        ("read what is not there", read("Deployment")),
        ("apply Service", apply("Service")),
        ("apply Deployment", apply("Deployment")),
        ("apply the first status", tell("http://one")),
        ("apply status, one value changed", tell("http://two")),
    ]


def _bare(number: int) -> Manifest:
    return {key: value for key, value in workload.a_service(number).items() if key != "spec"}


def _child(kind: str, number: int) -> Manifest:
    manifest = next(child for child in render_resource(workload.a_service(number)) if child["kind"] == kind)
    return {**manifest, "spec": {**manifest["spec"], "replicas": 0}} if kind == "Deployment" else manifest


async def measure(box: Sandbox, call: Call, count: int) -> dict[str, float]:
    """Milliseconds of CPU a call, by program, and the calls a second."""
    before, began = _cpu(box), time.perf_counter()
    await workload.at_once(_AT_ONCE, count, call)
    took = time.perf_counter() - began
    await asyncio.sleep(_REST_SECONDS)  # what a write sets off is part of its price
    after = _cpu(box)
    return {name: 1000 * (after[name] - before[name]) / count for name in after} | {"a second": count / took}


def _cpu(box: Sandbox) -> dict[str, float]:
    return cluster_cpu(box) | {"client": time.process_time()}


async def bench(box: Sandbox, status: Manifest, count: int) -> None:
    """Print a row for each call."""
    async with connect(await load_credentials(kubeconfig=str(box.kubeconfig))) as connection:
        print(f"{'CPU, ms a call':32} {'API server':>10} {'etcd':>6} {'client':>7} {'calls/s':>8}")
        for name, call in the_calls(connection, status):
            row = await measure(box, call, count)
            shown = f"{row['kube-apiserver']:10.1f} {row['etcd']:6.1f} {row['client']:7.2f} {row['a second']:8.0f}"
            print(f"{name:32} {shown}", flush=True)


def main() -> None:
    """Measure on a fresh cluster."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    count = parser.parse_args().count
    box, status = Sandbox.named("bench"), World().serving().get("LLMService")["status"]
    box.down()
    box.up()
    try:
        prepare(box)
        asyncio.run(bench(box, status, count))
    finally:
        box.down()


if __name__ == "__main__":
    main()
