"""The operator itself by Flux: as in `gitops/`, and as a Helm release; and what becomes of models."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from llmservice import __version__
from sandbox import Sandbox
from tests.cluster.conftest import namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_image import IMAGE, ROOT, operator_archive
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, ask
from tests.gitops.clients.flux import HELM, SYSTEM, Flux
from tests.gitops.clients.git_server import Repository

pytestmark = [pytest.mark.cluster, pytest.mark.gitops, pytest.mark.sandbox]

OPERATOR_SYSTEM = "llmservice-system"
USER_ROLES = ("llmservice-viewer", "llmservice-editor", "llmservice-admin")
CRD = "crd/llmservices.llmservice.dev"


@pytest.fixture(scope="module")
def ours(
    controllers: Path,  # noqa: ARG001
    repositories: tuple[Path, str],
    box: Sandbox,
    cluster: Kube,
    operator: Operator,
) -> Iterator[Flux]:
    """Flux's own namespace with this repository as a source; the only operator is the one that it installs."""
    folder, url = repositories
    repository = Repository(folder / "operator", f"{url}/operator/.git")
    repository.commit_folders(ROOT, "manifests", "charts", "crds")
    repository.tag(f"v{__version__}")
    if IMAGE not in box.load_image(operator_archive()):
        raise AssertionError(f"the archive has no {IMAGE}")
    operator.stop()
    flux = Flux(cluster.within(SYSTEM))
    flux.source(repository.url, "llmservice-operator", ref={"tag": f"v{__version__}"})
    try:
        yield flux
    finally:
        operator.start()


@pytest.fixture
def team(cluster: Kube, box: Sandbox) -> Iterator[Kube]:
    """A namespace with models."""
    for kube in namespace(cluster):
        box.model_volume(kube.namespace, "models")
        yield kube


def engines(kube: Kube) -> list[str]:
    return [pod["metadata"]["uid"] for pod in kube.list("Pod", "app.kubernetes.io/component=inference")]


def test_the_example_installs_the_operator_and_leaves_models_crd_and_roles(ours: Flux, team: Kube) -> None:
    bodies = list(yaml.safe_load_all((ROOT / "gitops" / "flux" / "operator.yaml").read_text()))
    (spec,) = (body["spec"] for body in bodies if body["kind"] == "Kustomization")
    ours.kustomization("llmservice-operator", **spec, targetNamespace=OPERATOR_SYSTEM)
    ours.kube.wait(
        lambda: ours.ready(name="llmservice-operator").get("status") == "True",
        lambda: ours.get("Kustomization", "llmservice-operator").get("status"),
        180,
    )
    team.create(a_tiny_service())
    team.wait_ready("chat")
    served = engines(team)
    ours.delete("Kustomization", "llmservice-operator")
    team.kubectl("get", CRD, *(f"clusterrole/{name}" for name in USER_ROLES))
    assert team.within(OPERATOR_SYSTEM).get("Deployment", "llmservice-operator") is None
    assert engines(team) == served
    assert ask(team)["usage"]["completion_tokens"] > 0


def test_a_helm_release_is_repaired_rolled_back_and_removed_without_touching_models(ours: Flux, team: Kube) -> None:
    ours.kube.await_end(OPERATOR_SYSTEM)
    release(ours)
    wait_for_release(ours)
    team.create(a_tiny_service())
    team.wait_ready("chat")
    served, system = engines(team), team.within(OPERATOR_SYSTEM)
    system.kubectl("scale", "deployment/llmservice-operator", "--replicas=1")
    system.wait(lambda: replicas(system) == 2, lambda: ours.get("HelmRelease", "operator").get("status"), 120)
    release(ours, {"image": {"tag": "absent"}})
    system.wait(
        lambda: "RollbackSucceeded" in {item["reason"] for item in conditions(ours)}, lambda: conditions(ours), 180
    )
    assert engines(team) == served
    release(ours, {"workers": 4})
    wait_for_release(ours)
    ours.delete("HelmRelease", "operator")
    assert system.get("Deployment", "llmservice-operator") is None
    assert team.get("LLMService", "chat") is not None
    assert engines(team) == served
    assert ask(team)["usage"]["completion_tokens"] > 0


def release(flux: Flux, values: dict[str, object] | None = None) -> None:
    """The chart of the repository as a Helm release with these values."""
    source = {"kind": "GitRepository", "name": "llmservice-operator"}
    spec = {
        "interval": "5s",
        "timeout": "40s",
        "releaseName": "llmservice",
        "targetNamespace": OPERATOR_SYSTEM,
        "install": {"createNamespace": True},
        "upgrade": {"remediation": {"retries": 0, "strategy": "rollback", "remediateLastFailure": True}},
        "driftDetection": {"mode": "enabled"},
        "chart": {"spec": {"chart": "./charts/llmservice", "sourceRef": source}},
        "values": values or {},
    }
    flux.apply("HelmRelease", HELM, "operator", spec)


def wait_for_release(flux: Flux) -> None:
    flux.kube.wait(lambda: flux.ready("HelmRelease", "operator").get("status") == "True", lambda: conditions(flux), 180)


def conditions(flux: Flux) -> list[dict[str, object]]:
    found: list[dict[str, object]] = flux.get("HelmRelease", "operator").get("status", {}).get("conditions", [])
    return found


def replicas(kube: Kube) -> int:
    deployment = kube.get("Deployment", "llmservice-operator")
    return int(deployment["spec"]["replicas"]) if deployment else 0
