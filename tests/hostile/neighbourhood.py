"""Tenants of one operator: one who attacks, one who must not notice, and what is asked of the operator meanwhile."""

import contextlib
import json
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from llmservice.cluster.kinds import KINDS
from tests.cluster.kube import Kube, condition_of
from tests.cluster.operator_process import Operator
from tests.hostile.confined import Cgroup
from tests.hostile.engines import Engines
from tests.hostile.node import PlayedNode
from tests.hostile.results import Row
from tests.hostile.services import played
from tests.hostile.watching import Seen, forget_peak, watched

MOST_RSS_MIB = 400
MOST_SECONDS = 5.0
"""From another tenant's new resource to its Deployment, and for a probe, as its Deployment allows."""
ROUND_SECONDS = 10.0
"""Between two looks of the autoscaler at a pod."""
NEIGHBOURS = {"steady": "Pods", "charted": "Prometheus"}
"""Services of the other tenant that are scaled, and where their figures come from."""


@dataclass(slots=True)
class Neighbourhood:
    """The operator and its tenants.

    `health` and `metrics` are its endpoints, `token` is of somebody who may read the metrics. `metrics_targets` tells
    the Prometheus at `prometheus` which pods there are. `strict` asks for the seconds that are promised; else for an
    answer at all.
    """

    cluster: Kube
    operator: Operator
    cgroup: Cgroup
    health: str
    engines: Engines
    node: PlayedNode
    victim: Kube
    fresh: Callable[[], AbstractContextManager[Kube]]
    metrics_targets: Callable[[], None]
    metrics: str
    prometheus: str
    token: str
    strict: bool = True
    rows: list[Row] = field(default_factory=list)

    @contextmanager
    def tenant(self) -> Iterator[Kube]:
        """A namespace for one who attacks; afterwards nothing of it is left."""
        with self.fresh() as kube:
            try:
                yield kube
            finally:
                self.clear(kube)

    @contextmanager
    def attacked(self, attack: str, *, since_start: bool = False) -> Iterator[Seen]:
        """While the block runs somebody attacks; asserts that nobody else was hurt.

        The peak of memory counts from here, or from the start of the process.
        """
        process, mark, kills = self.operator.process, self.operator.log.stat().st_size, self.cgroup.kills
        assert process is not None
        failed: list[str] = []
        if not since_start:
            forget_peak(process.pid)
        with watched(self.victim, self.health, process.pid) as seen:
            time.sleep(1)
            try:
                yield seen
            except AssertionError as error:
                failed.append(str(error)[:1500])
        row = Row(
            attack=attack,
            waits=len(seen.waits),
            longest_wait=seen.longest_wait,
            longest_probe=seen.longest_probe,
            rss_mib=seen.rss_mib,
            descriptors=seen.descriptors,
            threads=seen.threads,
            longest_call=max(seen.calls, default=0.0),
        )
        self.rows.append(row)
        problems = [
            *failed,
            *([] if process is self.operator.process else ["the operator was started again"]),
            *([] if self.is_running() else [f"the operator ended, killed by the kernel: {self.cgroup.kills - kills}"]),
            *self._problems(seen),
            *problems_in(self.operator.log.read_bytes()[mark:]),
        ]
        assert not problems, f"{row}\n" + "\n".join(problems)[:6000]

    def hold(self, seconds: float) -> None:
        """Let it go on for so long, or until the operator has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.is_running():
            time.sleep(0.2)

    def is_running(self) -> bool:
        """Whether the process that was started lives."""
        return self.operator.process is not None and self.operator.process.poll() is None

    def is_well(self) -> bool:
        """Whether it runs and answers its probe."""
        try:
            with urllib.request.urlopen(self.health, timeout=MOST_SECONDS):  # noqa: S310
                return self.is_running()
        except (OSError, urllib.error.URLError):
            return False

    def kill(self) -> None:
        """SIGKILL."""
        if self.operator.process is not None:
            self.operator.process.send_signal(signal.SIGKILL)
            self.operator.process.wait(30)

    def stop(self) -> None:
        """The end: by SIGTERM, or by SIGKILL where it does not answer any more."""
        if self.is_well():
            self.operator.stop()
        else:
            self.kill()

    def read_of(self, name: str) -> str:
        """Why the pods of a service of the other tenant cannot be read; empty when they are."""
        condition = condition_of(self.victim.get("LLMService", name), "MetricsAvailable")
        return "" if condition.get("status") == "True" else f"{name}: {condition.get('message', 'nothing is told')}"

    def settle(self) -> None:
        """The other tenant's scaled services are there, and read where that was waited for."""
        for name, source in NEIGHBOURS.items():
            if self.victim.get("LLMService", name) is None:
                self.victim.create(played(name, "ready honest", source=source))
        if self.strict:
            self.victim.wait(self.all_read, lambda: [*map(self.read_of, NEIGHBOURS)], seconds=120)

    def all_read(self) -> bool:
        """Whether every one of them is read."""
        self.metrics_targets()
        return not any(map(self.read_of, NEIGHBOURS))

    def clear(self, kube: Kube) -> None:
        """Delete what a tenant made, and wait until its pods are gone."""
        with contextlib.suppress(Exception):
            for kind in ("LLMService", "Pod"):
                kube.request("DELETE", KINDS[kind].collection(kube.namespace))
            kube.wait(
                lambda: None if kube.list("Deployment") or kube.list("Pod") else True, lambda: "left over", seconds=120
            )

    def _problems(self, seen: Seen) -> Iterator[str]:
        if not seen.waits or not seen.probes:
            yield "nobody looked: the test shows nothing"
        if self.strict and seen.longest_wait > MOST_SECONDS:
            call = max(seen.calls, default=0.0)
            yield f"another tenant waited {seen.longest_wait:.1f} s for a Deployment (a call took up to {call:.1f} s)"
        if seen.given_up:
            yield f"another tenant's Deployment was not made: {seen.given_up} of {len(seen.waits)}"
        if seen.failures:
            yield f"/healthz failed {len(seen.failures)} times of {len(seen.probes)}: {seen.failures[-1]}"
        if self.strict and seen.longest_probe > MOST_SECONDS:
            yield f"/healthz took {seen.longest_probe:.1f} s"
        if seen.rss_mib > MOST_RSS_MIB:
            yield f"the operator used {seen.rss_mib:.0f} MiB"


def problems_in(log: bytes) -> Iterator[str]:
    """Lines that are no JSON object, and those that tell of a defect."""
    for line in log.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            yield f"not a line of JSON: {line[:300]!r}"
            continue
        if "defect" in said.get("msg", "") or "Traceback" in said.get("error", ""):
            yield f"a defect: {line[-1500:].decode(errors='replace')}"
