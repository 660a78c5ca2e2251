"""How long nobody acts when a leader is killed, asked to end, or frozen; prints a table.

    python benchmarks/bench_failover.py [--kills 3] [--sandbox bench]

Two operators share a Lease on the real API server of a sandbox, and resources change all the time, so that whoever
leads writes. In turn the leader gets SIGKILL, SIGTERM, or SIGSTOP and, once the other has written, SIGCONT. The API
server's audit log tells who wrote when. Thirty kills take about ten minutes.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.leadership_audit import Write, handovers, overlaps, writes_in
from sandbox import Sandbox
from tests.cluster.kube import Kube
from tests.cluster.service_account import kubeconfig_with_token
from tests.cluster.services import a_tiny_service

ROOT = Path(__file__).parents[1]
NAMESPACE = "failover"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)
SERVICES = 4
_EDIT_EVERY_SECONDS = 0.1
_AWAKE_SECONDS = 6.0
"""How long a leader that was frozen is watched after it goes on: two of its tries."""


@dataclass(slots=True, kw_only=True)
class Candidate:
    """An operator with a user of its own: the audit log knows it by `user`."""

    name: str
    kubeconfig: Path
    log: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def user(self) -> str:
        """Its name for the API server."""
        return f"system:serviceaccount:{NAMESPACE}:{self.name}"

    def start(self) -> None:
        """Start it and wait until its caches are warm."""
        known = self._warm()
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig),
            "LLMSERVICE_LEASE_NAMESPACE": NAMESPACE,
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "llmservice", "run"], env=environment, stdout=log, stderr=log
            )
        wait_until(lambda: self._warm() > known, f"{self.name} to be ready")

    def send(self, number: signal.Signals) -> None:
        """A signal to its process."""
        assert self.process is not None
        self.process.send_signal(number)

    def end(self) -> None:
        """Whatever state it is in."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)

    def _warm(self) -> int:
        return self.log.read_text().count("caches are filled") if self.log.exists() else 0


@dataclass(slots=True, kw_only=True)
class Bench:
    """The cluster, its audit log, and what was measured: by signal, seconds from it to the other's first write."""

    kube: Kube
    audit_log: Path
    candidates: tuple[Candidate, Candidate]
    gaps: dict[signal.Signals, list[float]] = field(default_factory=lambda: {number: [] for number in SIGNALS})
    after_waking: int = 0

    def writes(self) -> list[Write]:
        """All writes of both so far; a line that is still being written is left out."""
        lines = [line for line in self.audit_log.read_text().splitlines() if line.endswith("}")]
        return writes_in(lines, [candidate.user for candidate in self.candidates])

    def writes_of(self, candidate: Candidate, since: float) -> list[Write]:
        """What one has written since then, the Lease aside."""
        found = (write for write in self.writes() if not write.is_lease and write.began >= since)
        return [write for write in found if write.author == candidate.user]

    def round(self, number: signal.Signals, leader: Candidate, other: Candidate) -> None:
        """One signal to the leader, and what follows from it."""
        sent = time.time()
        leader.send(number)
        wait_until(lambda: bool(self.writes_of(other, sent)), f"a write of {other.name} after {number.name}")
        seconds = self.writes_of(other, sent)[0].began - sent
        self.gaps[number].append(seconds)
        print(f"{number.name:8} {leader.name} → {other.name}  {seconds:6.2f} s", flush=True)
        if number is signal.SIGSTOP:
            self._wake(leader)
        else:
            assert leader.process is not None
            leader.process.wait(30)
            leader.start()

    def _wake(self, candidate: Candidate) -> None:
        woken = time.time()
        candidate.send(signal.SIGCONT)
        time.sleep(_AWAKE_SECONDS)
        assert candidate.process is not None
        assert candidate.process.poll() is None, f"{candidate.name} ended after SIGCONT"
        self.after_waking += len(self.writes_of(candidate, woken))


@contextmanager
def edited_all_the_time(kube: Kube) -> Iterator[None]:
    """Suspended services of which one changes every tenth of a second."""
    done = threading.Event()

    def edit() -> None:
        number = 0
        while not done.wait(_EDIT_EVERY_SECONDS):
            number += 1
            kube.patch("LLMService", f"edited-{number % SERVICES}", {"spec": {"maxNumSeqs": 1 + number % 64}})

    for number in range(SERVICES):
        kube.create(a_tiny_service(f"edited-{number}", suspend=True))
    thread = threading.Thread(target=edit, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(30)


@contextmanager
def benched(box: Sandbox, folder: Path, audit_log: Path) -> Iterator[Bench]:
    """A fresh cluster that keeps an audit log, and two operators of which the first leads."""
    box.down()
    box.up()
    kube = Kube.connect(box.kubeconfig, box.kubectl).within(NAMESPACE)
    kube.kubectl("apply", "--server-side", "-f", str(ROOT / "crds"))
    kube.kubectl("wait", "--for=create", "crd/llmservices.llmservice.dev", "--timeout=30s")
    kube.kubectl("wait", "--for=condition=Established", "crd/llmservices.llmservice.dev", "--timeout=30s")
    kube.kubectl("create", "namespace", NAMESPACE)
    one, two = (
        Candidate(name=name, kubeconfig=kubeconfig_with_token(kube, name, folder)[0], log=folder / f"{name}.log")
        for name in ("one", "two")
    )
    try:
        with edited_all_the_time(kube):
            bench = Bench(kube=kube, audit_log=audit_log, candidates=(one, two))
            one.start()
            wait_until(lambda: bool(bench.writes_of(one, 0)), "the first write")
            two.start()
            yield bench
    finally:
        one.end()
        two.end()
        box.down()


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Look until it holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.1)


def report(bench: Bench) -> bool:
    """Print the table; whether nothing overlapped."""
    writes = bench.writes()
    changes = handovers(writes)
    wrong = overlaps(writes)
    print("\nsignal to the leader → first write of the other, seconds")
    print("| signal | rounds | median | longest |\n|---|---|---|---|")
    for number, gaps in bench.gaps.items():
        if gaps:
            print(f"| {number.name} | {len(gaps)} | {statistics.median(gaps):.1f} | {max(gaps):.1f} |")
    work = [write for write in writes if not write.is_lease]
    print(f"{len(work)} writes, {len(changes)} changes of their author, {len(wrong)} of them overlap")
    shortest = min((change.first - change.last for change in changes), default=0)
    print(f"shortest time between the last write of one and the first of the other: {shortest:.2f} s")
    print(f"writes of a leader within {_AWAKE_SECONDS:.0f} s of SIGCONT: {bench.after_waking}")
    return not wrong and not bench.after_waking


def main() -> int:
    """Print the figures; 1 when two wrote at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=3, help="rounds; SIGKILL, SIGTERM and SIGSTOP take turns")
    parser.add_argument("--sandbox", default="bench", help="name of the sandbox; it is started afresh")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        audit_log = folder / "audit.log"
        box = Sandbox.named(options.sandbox, audit_log=audit_log)
        with benched(box, folder, audit_log) as bench:
            leader, other = bench.candidates
            for number in range(options.kills):
                bench.round(SIGNALS[number % len(SIGNALS)], leader, other)
                leader, other = other, leader
            clean = report(bench)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
