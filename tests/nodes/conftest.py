"""A cluster with the real controller of LeaderWorkerSets, the image of the played engine, and the operator.

The operator has what it is shipped with: its account's token, the rights of the overlay, and the admission policy.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sandbox import Sandbox
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.progress import Progress
from tests.cluster.conftest import ROOT, box, cluster, kube
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.service_account import kubeconfig_of
from tests.nodes import controller
from tests.nodes.played import played_image

__all__ = ["box", "cluster", "kube"]

SYSTEM, ACCOUNT = "llmservice-system", "llmservice-operator"
_LEFT_OUT = {"Deployment", "PodDisruptionBudget", "CustomResourceDefinition"}
"""Of the overlay: the operator's pods, and what is installed already."""


@pytest.fixture(scope="session")
def token(cluster: Kube, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kubeconfig with the operator's token, and what it may do."""
    overlay = cluster.kubectl("kustomize", str(ROOT / "manifests/overlays/cluster"))
    bodies = [body for body in yaml.safe_load_all(overlay) if body["kind"] not in _LEFT_OUT]
    installed = json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies})
    cluster.kubectl("apply", "--server-side", "-f", "-", stdin=installed)
    kubeconfig, _ = kubeconfig_of(cluster.within(SYSTEM), ACCOUNT, tmp_path_factory.mktemp("token"))
    return kubeconfig


@pytest.fixture(scope="session")
def operator(token: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """The operator as a process; at the end it still runs, and has logged no defect."""
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with Operator({"KUBECONFIG": str(token)}, log).running() as operator:
        yield operator


@pytest.fixture(scope="session")
def image(box: Sandbox) -> None:
    """The played engine, where pods find it, and GPUs for three groups and one to come."""
    box.set_gpus(8)
    box.load_image(played_image().ensure(cache_folder(), Progress()) / ARCHIVE)


@pytest.fixture(scope="session")
def groups(
    box: Sandbox,
    cluster: Kube,
    image: None,  # noqa: ARG001  (pods need it)
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """LeaderWorkerSets: the kind, and who makes groups of them."""
    folder = tmp_path_factory.mktemp("lws")
    with controller.crds(cluster), controller.running(cluster, box, folder):
        yield
