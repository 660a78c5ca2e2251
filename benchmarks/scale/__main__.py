"""`python -m benchmarks.scale [SIZE…]`: measure, and write results, table and plot into docs/reference.

Each size gets clusters of its own, one to see what a bare client takes and one for the operator: the sandbox `bench`,
with KWOK's nodes beside it. `--dry` only prints.
"""

import argparse
import asyncio
import contextlib
import subprocess
import time
from collections.abc import Iterator

from benchmarks.scale import workload
from benchmarks.scale.measuring import Bench, Result
from benchmarks.scale.process import ROOT
from benchmarks.scale.report import as_table, publish
from sandbox import Sandbox
from sandbox.kwok_nodes import ensure_kwok_nodes

SIZES = (100, 500, 1000, 5000)


def main() -> None:
    """Measure every size; what is done is published before the next begins."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--idle-seconds", type=float, default=60.0)
    parser.add_argument("--dry", action="store_true", help="print the figures, write nothing")
    options = parser.parse_args()
    for size in options.sizes:
        result = _measured(size, options.idle_seconds)
        print(as_table([result]))
        if not options.dry:
            publish(result)


def _measured(size: int, idle_seconds: float) -> Result:
    with _cluster(size) as box:
        bare = asyncio.run(Bench(box=box, idle_seconds=idle_seconds).bare(size))
    with _cluster(size) as box:
        return asyncio.run(Bench(box=box, idle_seconds=idle_seconds).measure(size, bare))


@contextlib.contextmanager
def _cluster(pods: int) -> Iterator[Sandbox]:
    """A fresh one, with room for so many pods."""
    box = Sandbox.named("bench")
    box.down()
    box.up()
    try:
        ensure_kwok_nodes(box, pods + pods // 10)
        prepare(box)
        yield box
    finally:
        box.down()


def prepare(box: Sandbox) -> None:
    """The namespace and the CRD, which is served before it is counted on."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": workload.NAMESPACE}}
    box.api().apply(f"/api/v1/namespaces/{workload.NAMESPACE}", namespace)
    kubectl = [str(box.kubectl), "--kubeconfig", str(box.kubeconfig)]
    subprocess.run([*kubectl, "apply", "--server-side", "-f", str(ROOT / "crds")], check=True, capture_output=True)
    established = [*kubectl, "wait", "--for=condition=Established", "crd/llmservices.llmservice.dev"]
    while subprocess.run(established, check=False, capture_output=True).returncode:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
