"""The real cluster, the operator as a process beside it, and a restricted namespace for each test."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.cluster.kstatus_recorder import recorded
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.target import CONTEXT_VARIABLE, SandboxTarget, Target

ROOT = Path(__file__).parents[2]
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


LONGEST_FIRST = (
    "test_in_cluster.py",
    "test_chart.py",
    "test_cache.py",
    "test_generated_resources.py",
    "test_inspection.py",
    "test_serving.py",
    "test_zero.py",
    "test_trouble.py",
    "test_secrets_in_logs.py",
    "test_llamacpp_binary.py",
    "test_upgrade.py",
    "test_deletion_orders.py",
    "test_sources.py",
    "test_rollouts.py",
)
"""Files that take more than half a minute: begun last, one of them would keep the other workers waiting."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first. On somebody's cluster, leave out what needs the sandbox's node, and say so."""
    items.sort(key=_rank)
    if not os.environ.get(CONTEXT_VARIABLE):
        return
    left_out = [item for item in items if item.get_closest_marker("sandbox")]
    print(f"\nleft out, because they need the sandbox: {', '.join(item.name for item in left_out)}")  # noqa: T201
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _rank(item: pytest.Item) -> int:
    return LONGEST_FIRST.index(item.path.name) if item.path.name in LONGEST_FIRST else len(LONGEST_FIRST)


@pytest.fixture(scope="session")
def cluster(administrator: Kube) -> Kube:
    """The cluster with the CRD."""
    install_crd(administrator)
    return administrator


def install_crd(administrator: Kube) -> None:
    """Apply the CRD and wait until it is served."""
    administrator.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "crds"))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/llmservices.llmservice.dev"

    def is_established() -> bool | None:
        conditions = administrator.request("GET", path).get("status", {}).get("conditions") or ()
        return True if any((item["type"], item["status"]) == ("Established", "True") for item in conditions) else None

    administrator.wait(is_established, lambda: administrator.request("GET", path)["status"], seconds=60)


@pytest.fixture(scope="session")
def box(target: Target, cluster: Kube) -> Sandbox:  # noqa: ARG001  (it must be up)
    """The sandbox, for tests marked so."""
    assert isinstance(target, SandboxTarget)
    return target.box


@pytest.fixture(scope="session")
def operator(target: Target, cluster: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """One operator for all tests; at the end it still runs, ends when asked, and has logged no defect.

    At no moment of it does kstatus say of an LLMService what is not so.
    """
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with recorded(cluster), Operator(target.operator_environment(), log).running() as operator:
        yield operator


@pytest.fixture
def kube(cluster: Kube, operator: Operator) -> Iterator[Kube]:  # noqa: ARG001  (it must run)
    """A namespace of its own that enforces the restricted Pod Security Standard."""
    yield from namespace(cluster)


@pytest.fixture
def quiet(cluster: Kube) -> Iterator[Kube]:
    """The same, for tests that need no operator."""
    yield from namespace(cluster)


def namespace(cluster: Kube) -> Iterator[Kube]:
    """Make a restricted namespace and remove it afterwards."""
    name = f"llmservice-test-{secrets.token_hex(4)}"
    body: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
    cluster.request("POST", "/api/v1/namespaces", body)
    yield cluster.within(name)
    cluster.request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def models(target: Target, kube: Kube) -> str:
    """The claim with the tiny model, bound in the test's namespace; returns its name."""
    target.model_volume(kube, "models")
    return "models"
