"""What another tenant and a probe see of the operator meanwhile, and what the process costs."""

import contextlib
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.kube import Kube
from tests.faults.scenes import a_service_without_pods

_EVERY_SECONDS = 2.0
_GIVEN_UP_AFTER_SECONDS = 60.0
_PROBE_EVERY_SECONDS = 0.5
_PROBE_SECONDS = 10.0
_LOOK_SECONDS = 0.1


@dataclass(slots=True)
class Seen:
    """Seconds from another tenant's new resource to its Deployment, seconds of each probe, and what the process used.

    `calls` are the seconds in which the API server took each of the resources: that is not the operator's time.
    `failures` are probes that were not answered with 200, `given_up` counts Deployments that never came;
    `descriptors` and `threads` are the most there were.
    """

    waits: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    given_up: int = 0
    rss_mib: float = 0.0
    descriptors: int = 0
    threads: int = 0

    @property
    def longest_wait(self) -> float:
        """Of the waits; 0 before there is one."""
        return max(self.waits, default=0.0)

    @property
    def longest_probe(self) -> float:
        """Of the probes; 0 before there is one."""
        return max(self.probes, default=0.0)


@dataclass(slots=True)
class Watcher:
    """Watches the operator. `victim` is the other tenant's namespace, `health` the address of the probe."""

    victim: Kube
    health: str
    pid: int
    seen: Seen = field(default_factory=Seen)
    _over: threading.Event = field(default_factory=threading.Event)
    _made: int = 0

    def run_victim(self) -> None:
        """Make a resource every few seconds and wait for its Deployment."""
        while not self._over.is_set():
            self._made += 1
            self._wait_for(f"chat-{self._made}")
            self._over.wait(_EVERY_SECONDS)

    def _wait_for(self, name: str) -> None:
        asked = time.monotonic()
        self.victim.create(a_service_without_pods(name=name))
        began = time.monotonic()
        self.seen.calls.append(began - asked)
        while self.victim.get("Deployment", name) is None:
            if time.monotonic() - began > _GIVEN_UP_AFTER_SECONDS:
                self.seen.given_up += 1
                break
            time.sleep(0.05)
        self.seen.waits.append(time.monotonic() - began)
        self.victim.delete("LLMService", name)

    def run_probe(self) -> None:
        """Ask for its health as the kubelet does, but more often."""
        while not self._over.wait(_PROBE_EVERY_SECONDS):
            began = time.monotonic()
            try:
                with urllib.request.urlopen(self.health, timeout=_PROBE_SECONDS) as answer:  # noqa: S310
                    answer.read()
            except urllib.error.HTTPError as error:
                self.seen.failures.append(error.read().decode(errors="replace"))
            except (OSError, urllib.error.URLError) as error:
                self.seen.failures.append(str(error))
            self.seen.probes.append(time.monotonic() - began)

    def run_costs(self) -> None:
        """Look at the process until it ends."""
        while not self._over.wait(_LOOK_SECONDS):
            with contextlib.suppress(OSError):
                self._look(Path(f"/proc/{self.pid}"))

    def _look(self, process: Path) -> None:
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        if "VmHWM" in status:
            self.seen.rss_mib = max(self.seen.rss_mib, int(status["VmHWM"].split()[0]) / 1024)
            self.seen.threads = max(self.seen.threads, int(status["Threads"]))
            self.seen.descriptors = max(self.seen.descriptors, len([*(process / "fd").iterdir()]))

    def end(self) -> None:
        """Watch no more."""
        self._over.set()


def forget_peak(pid: int) -> None:
    """The peak of the process's memory counts from now on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


@contextmanager
def watched(victim: Kube, health: str, pid: int) -> Iterator[Seen]:
    """What is seen while the block runs; it is complete after the block."""
    watcher = Watcher(victim, health, pid)
    with ThreadPoolExecutor(3) as pool:
        works = [pool.submit(work) for work in (watcher.run_victim, watcher.run_probe, watcher.run_costs)]
        try:
            yield watcher.seen
        finally:
            watcher.end()
    for work in works:
        work.result()
