"""What attackers do, step by step, and what is asserted of the neighbours afterwards."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from tests.cluster.kube import Kube, Rejected
from tests.hostile.generated import generated
from tests.hostile.neighbourhood import NEIGHBOURS, Neighbourhood
from tests.hostile.settings import SEED


def make_generated(tenant: Kube, numbers: range) -> None:
    """Make the generated resources of these numbers; the API server takes most of them."""
    refused: list[str] = []

    def make(number: int) -> None:
        try:
            tenant.create(generated(SEED, number))
        except Rejected as rejected:
            refused.append(f"{number}: {rejected}")

    at_once(make, numbers)
    assert len(refused) < len(numbers) / 2, f"most are refused, so little is tested: {refused[:3]}"


def start_again(tenants: Neighbourhood) -> None:
    """As after a crash, with all that is there."""
    tenants.kill()
    tenants.operator.start()


def wait_played(tenants: Neighbourhood, tenant: Kube, pods: int) -> None:
    """Until so many pods of the tenant are played."""
    played_pods = tenants.node.plays
    tenant.wait(
        lambda: True if sum(key[0] == tenant.namespace for key in [*played_pods]) >= pods else None,
        lambda: [pod["status"] for pod in tenant.list("Pod")][:3],
        seconds=120,
    )


def asked_of(tenants: Neighbourhood, kube: Kube, name: str = "") -> int:
    """How often the engines of a namespace, or of one service in it, were asked for their metrics."""
    asked = tenants.engines.asked()
    return sum(
        asked[address]
        for (namespace, pod), address in [*tenants.node.addresses.items()]
        if namespace == kube.namespace and pod.startswith(name)
    )


def assert_asked(tenants: Neighbourhood, kube: Kube) -> None:
    """Else the test shows nothing."""
    assert not tenants.is_running() or asked_of(tenants, kube) > 0, "no engine of the tenant was ever asked"


def assert_read(tenants: Neighbourhood) -> None:
    """The pods of the other tenant are read; where time is not counted, they may yet have to be."""
    if not tenants.strict:
        tenants.victim.wait(tenants.all_read, lambda: [*map(tenants.read_of, NEIGHBOURS)], seconds=60)
    assert [problem for name in NEIGHBOURS if (problem := tenants.read_of(name))] == []


def assert_at_rest(tenants: Neighbourhood) -> None:
    """Soon the operator holds no more descriptors and threads than before anybody attacked: 28 and 7 were seen."""
    assert tenants.operator.process is not None
    process = Path(f"/proc/{tenants.operator.process.pid}")

    def held() -> tuple[int, int]:
        return len([*(process / "fd").iterdir()]), len([*(process / "task").iterdir()])

    tenants.victim.wait(lambda: held()[0] <= 40 and held()[1] <= 12, held, seconds=120)


def at_once(do: Callable[[int], object], numbers: Iterable[int]) -> None:
    """Do it with each number, eight at a time."""
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(do, number) for number in numbers]:
            done.result()


@contextmanager
def changing(tenant: Kube, count: int) -> Iterator[None]:
    """Four writers change one service after the other, as fast as the API server takes it."""
    over = Event()

    def write(first: int) -> None:
        for turn in range(2, 10**6):
            for number in range(first, count, 4):
                if over.is_set():
                    return
                tenant.patch("LLMService", f"chat-{number}", {"spec": {"maxNumSeqs": turn, "replicas": turn % 7 + 1}})

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, first) for first in range(4)]
        try:
            yield
        finally:
            over.set()
    for writer in writers:
        writer.result()


@contextmanager
def flooded(tenants: Neighbourhood, clients: int, how: str) -> Iterator[None]:
    """So many clients, as `flood` knows them, in a process of their own."""
    command = [sys.executable, "-m", "tests.hostile.flood", tenants.metrics, tenants.token, str(clients), how]
    with subprocess.Popen(command) as process:  # noqa: S603
        time.sleep(1)
        try:
            yield
            assert process.poll() is None, "the clients have ended: the test shows nothing"
        finally:
            process.kill()
