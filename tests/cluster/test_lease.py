"""Two candidates on a real API server: who leads when one is killed, asked to end, or frozen."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.kube import Kube
from tests.cluster.lease_process import LEASE

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def start(quiet: Kube, tmp_path: Path) -> Iterator[Start]:
    """Start a candidate of this identity."""
    processes: list[subprocess.Popen[bytes]] = []

    def start_candidate(identity: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "KUBECONFIG": str(quiet.kubeconfig), "PYTHONPATH": f"{ROOT / 'operator'}:{ROOT}"}
        command = [sys.executable, "-m", "tests.cluster.lease_process", quiet.namespace, identity]
        with (tmp_path / f"{identity}.log").open("wb") as log:
            processes.append(subprocess.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log))  # noqa: S603
        return processes[-1]

    yield start_candidate
    for process in processes:
        process.kill()
        process.wait(10)


@pytest.mark.slow
def test_after_a_kill_the_other_writes(quiet: Kube, start: Start) -> None:
    first = start("one")
    wait_for_writes(quiet, "one", 10)
    start("two")
    time.sleep(3)
    first.send_signal(signal.SIGKILL)
    wait_for_writes(quiet, "two", 1)
    assert terms(quiet) == ["one", "two"]


def test_after_a_polite_end_nobody_waits_for_a_term_to_end(quiet: Kube, start: Start) -> None:
    first = start("one")
    wait_for_writes(quiet, "one", 10)
    start("two")
    time.sleep(3)
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    assert holder(quiet) != "one"
    wait_for_writes(quiet, "two", 1)
    assert terms(quiet) == ["one", "two"]


@pytest.mark.slow
def test_a_frozen_leader_that_wakes_up_writes_nothing(quiet: Kube, start: Start) -> None:
    first = start("one")
    wait_for_writes(quiet, "one", 10)
    start("two")
    time.sleep(3)
    first.send_signal(signal.SIGSTOP)
    wait_for_writes(quiet, "two", 10)
    first.send_signal(signal.SIGCONT)
    time.sleep(6)
    assert first.poll() is None
    assert terms(quiet) == ["one", "two"]
    assert holder(quiet) == "two"


def holder(kube: Kube) -> str:
    """Who leads, by the Lease; empty when nobody does."""
    lease = kube.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/{kube.namespace}/leases/{LEASE}")
    return str(lease["spec"].get("holderIdentity") or "")


def wait_for_writes(kube: Kube, identity: str, count: int) -> None:
    """Until this candidate has written so often."""

    def enough() -> bool | None:
        return True if sum(writer == identity for writer in writers(kube)) >= count else None

    kube.wait(enough, lambda: terms(kube))


def writers(kube: Kube) -> list[str]:
    """Who wrote, in the order in which the API server took the writes."""
    events = sorted(kube.list("Event"), key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [event["metadata"]["name"].split(".")[0] for event in events if event["reason"] == "Written"]


def terms(kube: Kube) -> list[str]:
    """The same with repetitions left out: a name that comes twice wrote between another's writes."""
    return [writer for writer, _ in itertools.groupby(writers(kube))]
