"""Whatever goes first (resource, operator, namespace or CRD), nothing hangs and nothing stays behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import install_crd, namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

CHILDREN = ("Deployment", "Service", "PodDisruptionBudget", "Pod")
NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}


@pytest.fixture
def placed(kube: Kube) -> Kube:
    """Two services with all their children."""
    return place(kube)


def place(kube: Kube) -> Kube:
    for name in ("chat", "code"):
        kube.create(a_tiny_service(name, replicas=2, pod=NOWHERE))
    kube.wait(lambda: left(kube) == dict.fromkeys(CHILDREN, 2) | {"Pod": 4} or None, lambda: left(kube))
    return kube


def left(kube: Kube) -> dict[str, int]:
    return {kind: len(kube.list(kind)) for kind in CHILDREN}


def wait_until_nothing_is_left(kube: Kube) -> None:
    kube.wait(lambda: not any(left(kube).values()) or None, lambda: left(kube))


def test_resources_first(placed: Kube) -> None:
    placed.kubectl("delete", "llm", "--all", "--timeout=20s")
    wait_until_nothing_is_left(placed)


def test_operator_first(placed: Kube, operator: Operator) -> None:
    operator.stop()
    try:
        placed.kubectl("delete", "llm", "--all", "--timeout=20s")
        wait_until_nothing_is_left(placed)
    finally:
        operator.start()


def test_namespace_first(kube: Kube, operator: Operator) -> None:
    name = f"{kube.namespace}-first"
    kube.kubectl("create", "namespace", name)
    doomed = place(kube.within(name))
    kube.kubectl("delete", "namespace", name, "--timeout=30s")
    assert doomed.list("LLMService") == []
    assert not any(left(doomed).values())
    said = [line for line in operator.log.read_text().splitlines() if name in line]
    assert [line for line in said if " WARNING " in line or " ERROR " in line] == []


@pytest.fixture
def apart(cluster: Kube, operator: Operator, tmp_path: Path) -> Iterator[Operator]:
    """An operator with a log of its own; afterwards CRD and usual operator are back."""
    operator.stop()
    other = Operator(operator.environment, tmp_path / "operator.log")
    other.start()
    yield other
    install_crd(cluster)
    other.stop()
    operator.start()


@pytest.mark.sandbox
def test_crd_first_and_the_operator_goes_on_when_it_is_back(placed: Kube, cluster: Kube, apart: Operator) -> None:
    placed.kubectl("delete", "crd", "llmservices.llmservice.dev", "--timeout=20s")
    wait_until_nothing_is_left(placed)
    install_crd(cluster)
    for again in namespace(cluster):
        again.create(a_tiny_service(suspend=True))
        again.wait_ready("chat", reason="Suspended")
    log = apart.log.read_text().splitlines()
    assert [line for line in log if " ERROR   llmservice" in line or line.startswith("Traceback")] == []
