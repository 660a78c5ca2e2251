"""How long until a Deployment is ADDED on a watch: after its LLMService was created, and after somebody deleted it.

    python benchmarks/bench_creation.py [--count 50]

Starts the sandbox `bench` and an operator beside it. The clock runs in this process: from just before the call until
the event has arrived. Services are suspended, so that no pod competes for the cores.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.cluster.transport.json_lines import json_lines
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.errors import OperatorError
from llmservice.objects.references import Ref, uid_of
from sandbox import Sandbox

ROOT = Path(__file__).parents[1]
NAMESPACE = "default"
TARGETS_MILLISECONDS = {"LLMService POST": 150, "Deployment DELETE": 5000}


def a_service(name: str) -> dict[str, Any]:
    """A suspended CPU service."""
    spec = {"engine": "llamacpp", "model": {"uri": "pvc://models/tiny.gguf"}, "gpu": {"count": 0}, "suspend": True}
    kind = KINDS["LLMService"]
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


async def watch(connection: Connection, seen: asyncio.Queue[tuple[str, float]], started: asyncio.Event) -> None:
    """Tell when each Deployment arrives."""
    selection = Selection(kind="Deployment", namespace=NAMESPACE)
    listing = await list_all(connection, selection)
    target = selection.target(watch="true", resourceVersion=listing.version)
    async with connection.stream(target, silence_seconds=600) as reader:
        started.set()
        async for event in json_lines(reader):
            if event["type"] == "ADDED":
                seen.put_nowait((event["object"]["metadata"]["name"], time.perf_counter()))


async def measure(connection: Connection, count: int) -> dict[str, list[float]]:
    """Milliseconds from each call to ADDED, one service after the other."""
    seen: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    started = asyncio.Event()
    watcher = asyncio.create_task(watch(connection, seen, started))
    await started.wait()
    taken: dict[str, list[float]] = {name: [] for name in TARGETS_MILLISECONDS}
    for number in range(count):
        name = f"bench-{number}"
        for call, milliseconds in taken.items():
            before = time.perf_counter()
            await CALLS[call](connection, name)
            arrived, moment = await seen.get()
            assert arrived == name
            milliseconds.append(1000 * (moment - before))
            await asyncio.sleep(0.2)
    watcher.cancel()
    return taken


async def create(connection: Connection, name: str) -> None:
    """An LLMService of this name."""
    await connection.call("POST", KINDS["LLMService"].collection(NAMESPACE), body=a_service(name))


async def delete_child(connection: Connection, name: str) -> None:
    """What somebody does by mistake."""
    await connection.call("DELETE", KINDS["Deployment"].item(NAMESPACE, name))


CALLS = {"LLMService POST": create, "Deployment DELETE": delete_child}


async def remove(api: ApiServer) -> None:
    """Delete every service of the bench."""
    for item in await api.list("LLMService", NAMESPACE):
        name = item["metadata"]["name"]
        if name.startswith("bench-"):
            await api.delete(Ref("LLMService", NAMESPACE, name), uid=uid_of(item))


async def wait_for_operator(connection: Connection) -> None:
    """Until the operator acts on a first service."""
    api = ApiServer(connection)
    await remove(api)
    await create(connection, "bench-first")
    while await api.get(Ref("Deployment", NAMESPACE, "bench-first")) is None:  # noqa: ASYNC110  (it is elsewhere)
        await asyncio.sleep(0.1)


async def bench(box: Sandbox, count: int) -> dict[str, list[float]]:
    """Measure, and tidy up."""
    async with connect(await load_credentials(kubeconfig=str(box.kubeconfig))) as connection:
        await asyncio.wait_for(wait_for_operator(connection), 60)
        try:
            return await measure(connection, count)
        finally:
            await remove(ApiServer(connection))


def told(call: str, milliseconds: list[float]) -> str:
    """A call's figures, which come in rising order."""
    median, target = statistics.median(milliseconds), TARGETS_MILLISECONDS[call]
    tail = f"p90 {milliseconds[int(0.9 * len(milliseconds))]:.1f}   max {milliseconds[-1]:.1f}"
    return (
        f"{call} → Deployment ADDED, {len(milliseconds)} services, milliseconds\n"
        f"  median {median:.1f}   {tail}\n  target {target}: {median / target:.2f} of it"
    )


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    count = parser.parse_args().count
    box = Sandbox.named("bench")
    box.up()
    kubectl = [str(box.kubectl), "--kubeconfig", str(box.kubeconfig)]
    subprocess.run([*kubectl, "apply", "--server-side", "-f", str(ROOT / "crds")], check=True)
    while subprocess.run(
        [*kubectl, "wait", "--for=condition=Established", "crd/llmservices.llmservice.dev"], check=False
    ).returncode:
        time.sleep(0.1)  # a CRD without conditions makes kubectl fail
    environment = {**os.environ, "KUBECONFIG": str(box.kubeconfig), "LLMSERVICE_LOG_LEVEL": "warning"}
    operator = subprocess.Popen([sys.executable, "-m", "llmservice", "run"], env=environment)
    try:
        taken = asyncio.run(bench(box, count))
    except OperatorError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        operator.terminate()
        operator.wait(30)
        box.down()
    for call, milliseconds in taken.items():
        print(told(call, sorted(milliseconds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
