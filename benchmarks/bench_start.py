"""How long the operator takes from its start until it works, and where that goes; prints medians.

    python benchmarks/bench_start.py [--runs 10] [--sandbox bench]
    python benchmarks/bench_start.py --services 5000 [--runs 3] [--idle 300]

With --services it starts beside a fleet that a server of a few lines has (`fleet_server.py`: no cluster, no TLS), and
prints what lists and first passes take until every service was looked at and nothing is left to do, what stays in
memory, and with --idle what so many seconds without a change cost.

Without it,
it starts the real process against the API server of a sandbox, which is started too and stays when it was up. The clock
runs from just before the process is made until its log says that its caches are filled and its workers start; CPU is
that of the process until then. What the imports cost is told by the interpreter, package by package.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from benchmarks.fleet_server import kubeconfig
from benchmarks.scale.process import OperatorProcess
from sandbox import Sandbox

ROOT = Path(__file__).parents[1]
CRD = "crd/llmservices.llmservice.dev"
TARGET_SECONDS = 2.0
_READY_LINE = "workers start"
_OPERATOR = [sys.executable, "-m", "llmservice", "run"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the wall and seconds of a core."""

    wall: float
    cpu: float


def start_once(kubeconfig: Path) -> Cost:
    """One start; the operator is stopped again."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    before = time.perf_counter()
    process = subprocess.Popen(_OPERATOR, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    while _READY_LINE not in said:
        said = process.stderr.readline()
        assert said, "the operator ended before it was ready"
    cost = Cost(time.perf_counter() - before, cpu_seconds(process.pid))
    process.terminate()
    process.communicate(timeout=30)
    return cost


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far (proc(5), fields 14 and 15 of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")


def start_beside(services: int, idle_seconds: int) -> None:
    """One start beside a fleet; prints one line."""
    with tempfile.TemporaryDirectory() as folder, _fleet(services, Path(folder)) as server:
        operator = OperatorProcess.start(Path(folder) / "kubeconfig", Path(folder))
        try:
            listed = _until_listed(Path(folder) / "operator-under-test.log")
            cpu_listed = operator.cpu
            done, cpu = operator.until_quiet(
                lambda now: now.passes >= services and not now.waiting, timeout_seconds=600
            )
            memory, most = operator.memory
            lag = operator.seen_inside()["worst_lag_ms"]
            writes = json.load(urllib.request.urlopen(f"{server}/asked")).get("PATCH", 0)  # noqa: S310  (ours)
            print(
                f"{services:6} services  listed {listed - operator.started:5.1f} s, {cpu_listed:5.1f} s CPU   "
                f"in sync {done - operator.started:5.1f} s, {cpu:5.1f} s CPU "
                f"({1000 * (cpu - cpu_listed) / max(services, 1):.2f} ms a service)   "
                f"RSS {memory:4.0f} MiB, most {most:4.0f}   worst lag {lag:4.0f} ms   writes {writes}",
                flush=True,
            )
            if idle_seconds:
                cpu = operator.cpu
                time.sleep(idle_seconds)
                share = 100 * (operator.cpu - cpu) / idle_seconds
                print(f"  idle {idle_seconds} s: {share:.2f} % of a core, RSS {operator.memory[0]:.0f} MiB", flush=True)
        finally:
            operator.stop()


@contextmanager
def _fleet(services: int, folder: Path) -> Iterator[str]:
    """The server in a process of its own; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = f"http://127.0.0.1:{port}"
    (folder / "kubeconfig").write_text(kubeconfig(server))
    process = subprocess.Popen([sys.executable, str(ROOT / "benchmarks/fleet_server.py"), str(services), str(port)])
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"{server}/asked")  # noqa: S310  (ours)
                break
            except OSError:
                time.sleep(0.1)
        yield server
    finally:
        process.kill()
        process.wait()


def _until_listed(log: Path) -> float:
    while _READY_LINE not in log.read_text():
        time.sleep(0.02)
    return time.monotonic()


def import_milliseconds() -> Counter[str]:
    """Time of the operator's imports by package, each without what it imports itself."""
    command = [sys.executable, "-X", "importtime", "-c", "import llmservice.cli.run"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    rows = (line.removeprefix("import time:").split("|") for line in told.splitlines() if line.startswith("import "))
    spent: Counter[str] = Counter()
    for own, _, module in rows:
        if own.strip().isdecimal():
            spent[module.strip().split(".")[0]] += int(own)
    return Counter({package: microseconds // 1000 for package, microseconds in spent.items()})


def prepare(box: Sandbox) -> None:
    """The sandbox is up and knows the resource."""
    box.up()
    kubectl = [str(box.kubectl), "--kubeconfig", str(box.kubeconfig)]
    subprocess.run([*kubectl, "apply", "--server-side", "-f", str(ROOT / "crds")], check=True, capture_output=True)
    for condition in ("create", "condition=Established"):  # a CRD without conditions makes kubectl wait fail
        command = [*kubectl, "wait", f"--for={condition}", CRD, "--timeout=30s"]
        subprocess.run(command, check=True, capture_output=True)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--services", type=int, nargs="*", default=[], help="beside fleets of these sizes")
    parser.add_argument(
        "--idle", type=int, default=0, metavar="SECONDS", help="then look so long at what idleness costs"
    )
    parser.add_argument("--sandbox", default="bench")
    options = parser.parse_args()
    if options.services:
        for services in options.services:
            for _ in range(min(options.runs, 3)):
                start_beside(services, options.idle)
        return 0
    box = Sandbox.named(options.sandbox)
    prepare(box)
    start_once(box.kubeconfig)  # the first one compiles and fills the page cache
    costs = [start_once(box.kubeconfig) for _ in range(options.runs)]
    walls, cpus = [cost.wall for cost in costs], [cost.cpu for cost in costs]
    print(f"start until workers start, {options.runs} runs, load {os.getloadavg()[0]:.1f}")
    print(f"  wall  median {statistics.median(walls):.2f} s   longest {max(walls):.2f} s   target {TARGET_SECONDS} s")
    print(f"  CPU   median {statistics.median(cpus):.2f} s   most {max(cpus):.2f} s")
    spent = import_milliseconds()
    print(f"  imports {spent.total()} ms, of which " + ", ".join(f"{name} {ms}" for name, ms in spent.most_common(8)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
