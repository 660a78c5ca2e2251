"""Flux's controllers and a Git server beside a real cluster, the operator as a process, a namespace for each test."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import box, cluster, kube, models, operator
from tests.cluster.kube import Body, Kube
from tests.gitops.clients import git_server
from tests.gitops.clients.argo import Argo
from tests.gitops.clients.flux import SYSTEM, Flux, running
from tests.gitops.clients.git_server import Repository

__all__ = ["box", "cluster", "kube", "models", "operator"]


@pytest.fixture(scope="session")
def controllers(cluster: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Flux's controllers; at the end all of them still run. The folder of their logs."""
    body: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    folder = tmp_path_factory.mktemp("flux")
    with running(cluster, folder):
        yield folder


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of a Git server, and its URL."""
    folder = tmp_path_factory.mktemp("git")
    with git_server.serving(folder) as url:
        yield folder, url


@pytest.fixture
def git(repositories: tuple[Path, str], kube: Kube) -> Iterator[Repository]:
    """A repository of the test's own."""
    folder, url = repositories
    yield Repository(folder / kube.namespace, f"{url}/{kube.namespace}/.git")
    shutil.rmtree(folder / kube.namespace)


@pytest.fixture
def flux(controllers: Path, kube: Kube, git: Repository, models: str) -> Iterator[Flux]:  # noqa: ARG001
    """A team with a repository as source of its namespace, and nothing in it yet."""
    team = Flux(kube)
    git.commit({"README.md": "our models"})
    team.source(git.url)
    yield team
    # A namespace that goes takes Flux's objects with it, whose finalizers then prune: not while the next test looks.
    for name in [item["metadata"]["name"] for item in _all(team, "Kustomization")]:
        team.delete("Kustomization", name)


def _all(team: Flux, kind: str) -> list[Body]:
    path = f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{team.kube.namespace}/{kind.lower()}s"
    found: list[Body] = team.kube.request("GET", path)["items"]
    return found


@pytest.fixture
def argo(kube: Kube, models: str, tmp_path: Path) -> Argo:  # noqa: ARG001
    """An application of Argo CD with an empty folder."""
    return Argo(kube, tmp_path)
