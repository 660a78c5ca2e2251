"""The files of a release on a real cluster: by Helm, then by kubectl; models outlive both."""

import os
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from llmservice import __version__
from sandbox import Sandbox
from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service, ask
from tests.release.installed.conftest import IMAGE, SYSTEM, Helm
from tools.release import files
from tools.release.python_files import plugin_path

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.release]

WAIT = ("--wait", "--timeout=120s")


def images(kube: Kube) -> set[str]:
    """Those of the operator's pods, as its Deployment asks for them and as containerd runs them."""
    pods = kube.within(SYSTEM).list("Pod", "app.kubernetes.io/component=operator")
    return {pod["spec"]["containers"][0]["image"] for pod in pods}


def engines(kube: Kube) -> Sequence[tuple[str, int]]:
    """Each engine pod with its restarts."""
    pods = kube.list("Pod", "app.kubernetes.io/component=inference")
    return [(pod["metadata"]["uid"], pod["status"]["containerStatuses"][0]["restartCount"]) for pod in pods]


@pytest.fixture(scope="module")
def by_helm(release: Path, kube: Kube, helm: Helm) -> Kube:
    """The chart from its archive, without values, and a service that serves."""
    helm("install", "llmservice", release / files.chart_archive(__version__), "-n", SYSTEM, *WAIT)
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    return kube


@pytest.fixture(scope="module")
def without_helm(by_helm: Kube, helm: Helm) -> Kube:
    """The release is uninstalled."""
    helm("uninstall", "llmservice", "-n", SYSTEM, *WAIT)
    return by_helm


@pytest.fixture(scope="module")
def by_kubectl(without_helm: Kube, release: Path) -> Kube:
    """install.yaml instead, with its operator ready."""
    system = without_helm.within(SYSTEM)
    system.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(release / files.INSTALL))
    system.kubectl("rollout", "status", "deployment/llmservice-operator", "--timeout=120s")
    return without_helm


def test_the_chart_runs_the_image_by_the_digest_of_the_archive(by_helm: Kube, digest: str) -> None:
    assert images(by_helm) == {f"{IMAGE.rpartition(':')[0]}@{digest}"}


def test_a_service_of_it_answers(by_helm: Kube) -> None:
    assert ask(by_helm)["usage"]["completion_tokens"] > 0


def test_an_upgrade_from_the_archive_restarts_no_engine(by_helm: Kube, helm: Helm, release: Path) -> None:
    before = engines(by_helm)
    values = ("--set", "logLevel=debug")
    helm("upgrade", "llmservice", release / files.chart_archive(__version__), "-n", SYSTEM, *WAIT, *values)
    by_helm.create(a_tiny_service("after-upgrade", suspend=True))
    by_helm.wait_reason("after-upgrade", "Suspended")
    assert engines(by_helm) == before != []


def test_kubectl_llm_from_its_archive_shows_the_service(
    by_helm: Kube, box: Sandbox, release: Path, tmp_path: Path
) -> None:
    with tarfile.open(plugin_path(release, __version__)) as tar:
        tar.extractall(tmp_path, filter="data")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path), "KUBECONFIG": str(box.kubeconfig)}
    command = [str(box.kubectl), "llm", "status", "chat", "--namespace", by_helm.namespace]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert "Ready" in done.stdout


def test_when_helm_has_uninstalled_it_the_model_serves_on(without_helm: Kube) -> None:
    assert without_helm.within(SYSTEM).list("Deployment") == []
    assert ask(without_helm)["usage"]["completion_tokens"] > 0


def test_install_yaml_runs_the_image_by_the_same_digest_and_takes_the_model_over(by_kubectl: Kube, digest: str) -> None:
    before = engines(by_kubectl)
    assert images(by_kubectl) == {f"{IMAGE}@{digest}"}
    by_kubectl.create(a_tiny_service("by-kubectl", suspend=True))
    by_kubectl.wait_reason("by-kubectl", "Suspended")
    by_kubectl.wait_ready("chat")
    assert engines(by_kubectl) == before != []


def test_when_kubectl_has_removed_it_the_model_serves_on(by_kubectl: Kube) -> None:
    """As docs/how-to/install.md says."""
    before = engines(by_kubectl)
    by_kubectl.kubectl("delete", "namespace", SYSTEM, "--timeout=120s")
    assert ask(by_kubectl)["usage"]["completion_tokens"] > 0
    assert engines(by_kubectl) == before != []
