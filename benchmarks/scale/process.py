"""The operator as a process: started, looked at from outside, asked for its own figures."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.05
_QUIET_SECONDS = 1.5
_WRITES = frozenset({"PATCH", "POST", "PUT", "DELETE"})
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def cpu_seconds(pid: int) -> float:
    """CPU a process has used, user and system, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@dataclass(frozen=True, slots=True)
class Figures:
    """What the operator says of itself: passes, requests by method, and the length of its queue."""

    passes: int
    requests: Counter[str]
    waiting: int

    @property
    def writes(self) -> int:
        """Requests that change something."""
        return sum(count for method, count in self.requests.items() if method in _WRITES)


@dataclass(slots=True)
class OperatorProcess:
    """One run of the operator."""

    process: subprocess.Popen[bytes]
    port: int
    report: Path
    started: float

    @classmethod
    def start(cls, kubeconfig: Path, folder: Path) -> Self:
        """Start it; log and report go into the folder."""
        port, report = _free_port(), folder / "loop.json"
        report.unlink(missing_ok=True)
        path = os.pathsep.join([str(ROOT / "operator"), str(ROOT)])
        metrics = {"LLMSERVICE_METRICS_PORT": str(port), "LLMSERVICE_METRICS_AUTH": "none"}
        environment = {"KUBECONFIG": str(kubeconfig), **metrics, "PYTHONPATH": path}
        with (folder / "operator-under-test.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.scale.under_test", str(report)],
                env={**os.environ, **environment},
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        return cls(process, port, report, time.monotonic())

    def stop(self) -> None:
        """End it as Kubernetes would."""
        self.process.terminate()
        self.process.wait(60)

    @property
    def cpu(self) -> float:
        """CPU seconds since its start."""
        return cpu_seconds(self.process.pid)

    @property
    def memory(self) -> tuple[float, float]:
        """Resident memory in MiB: now, and the most so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        kib = {name: int(number) for name, number in re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB$", status, re.MULTILINE)}
        return kib["VmRSS"] / 1024, kib["VmHWM"] / 1024

    def figures(self) -> Figures:
        """Its own metrics. Costs CPU that grows with the number of resources: read `cpu` before."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        passes, waiting = 0, 0
        requests: Counter[str] = Counter()
        for name, labels, value in _SAMPLE.findall(text):
            if name == "controller_runtime_reconcile_total":
                passes += int(float(value))
            elif name == "workqueue_depth":
                waiting += int(float(value))
            elif name == "rest_client_requests_total":
                requests[dict(_LABEL.findall(labels))["method"]] += int(float(value))
        return Figures(passes, requests, waiting)

    def until_quiet(self, enough: Callable[[Figures], bool], *, timeout_seconds: float) -> tuple[float, float]:
        """Wait until it has done enough and does nothing more; the monotonic time of its last work, and CPU till then.

        Nothing is asked of it while it works: its CPU clock stands still when it is done.
        """
        deadline = time.monotonic() + timeout_seconds
        last, changed = self.cpu, time.monotonic()
        while time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
            cpu, now = self.cpu, time.monotonic()
            if cpu - last > 1.5 / _TICKS:
                last, changed = cpu, now
            elif now - changed > _QUIET_SECONDS:
                if self._is_up() and enough(self.figures()):
                    return changed, cpu
                last, changed = self.cpu, time.monotonic()
        raise TimeoutError(f"the operator was not done within {timeout_seconds:.0f} s: {self.figures()}")

    def seen_inside(self) -> Any:
        """The report of `under_test`; nothing looks inside any more."""
        self.process.send_signal(signal.SIGUSR1)
        while not self.report.exists():
            time.sleep(_LOOK_SECONDS)
        return json.loads(self.report.read_text())

    def _is_up(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the operator ended with {self.process.returncode}: see {self.report.parent}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
