"""A cluster with two activators from the manifests, and the operator as a process beside it."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import ROOT, box, cluster, kube, models
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_image import IMAGE, operator_archive
from tests.cluster.operator_process import Operator
from tests.cluster.target import Target
from tests.ports import free_port

__all__ = ["box", "cluster", "kube", "models"]

SYSTEM = "llmservice-system"
DEPLOYMENT = "llmservice-activator"
LABEL = "app.kubernetes.io/component=activator"


@pytest.fixture(scope="session")
def activators(cluster: Kube, box: Sandbox) -> Kube:
    """Two ready activators; returns a client in their namespace."""
    assert box.load_image(operator_archive()) == [IMAGE]
    system = cluster.within(SYSTEM)
    namespace: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    system.kubectl("apply", "-f", "-", stdin=str(namespace).replace("'", '"'))
    system.kubectl("apply", "-k", str(ROOT / "manifests" / "activator"))
    account = f"--serviceaccount={SYSTEM}:{DEPLOYMENT}"
    if system.kubectl("get", "clusterrolebinding", DEPLOYMENT, "--ignore-not-found") == "":
        system.kubectl("create", "clusterrolebinding", DEPLOYMENT, f"--clusterrole={DEPLOYMENT}", account)
    of(system, 2)
    return system


@pytest.fixture(scope="session")
def operator(
    target: Target,
    activators: Kube,  # noqa: ARG001  (they must run)
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Operator]:
    """It knows of the activators; at the end it still runs and has logged no defect."""
    ports = {"LLMSERVICE_METRICS_PORT": str(free_port()), "LLMSERVICE_METRICS_AUTH": "none"}
    environment = {**target.operator_environment(), **ports, "LLMSERVICE_ACTIVATOR": "on"}
    with Operator(environment, tmp_path_factory.mktemp("operator") / "operator.log").running() as operator:
        yield operator


@pytest.fixture(autouse=True)
def both(activators: Kube) -> Iterator[None]:
    """Each test begins with two activators."""
    of(activators, 2)
    yield
    of(activators, 2)


def of(system: Kube, replicas: int) -> None:
    """So many activators, all of them ready, and no other."""
    system.patch("Deployment", DEPLOYMENT, {"spec": {"replicas": replicas}})

    def is_so() -> bool:
        pods = system.list("Pod", LABEL)
        staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        ready = [pod for pod in staying if all(each["ready"] for each in pod["status"].get("containerStatuses", ()))]
        return len(staying) == len(ready) == replicas and all(pod["status"].get("containerStatuses") for pod in ready)

    system.wait(is_so, lambda: system.list("Pod", LABEL), 120)
