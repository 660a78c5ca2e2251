"""A fresh cluster for the files of a release; RELEASE names their folder."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice import __version__
from sandbox import Sandbox
from sandbox.build_helm import helm_build
from sandbox.cache import cache_folder
from sandbox.commands import run
from sandbox.images import CTR
from sandbox.progress import Progress
from tests.cluster.conftest import RESTRICTED
from tests.cluster.kube import Body, Kube
from tools.release import files
from tools.release.names import OPERATOR, ROOT, names
from tools.release.python_files import this_machine

SYSTEM = "llmservice-system"
IMAGE = names().image(OPERATOR, __version__)


@pytest.fixture(scope="session")
def release() -> Path:
    """The folder; each of its files is there."""
    folder = Path(os.environ.get("RELEASE") or ROOT / "build" / "release" / __version__).resolve()
    assert (folder / files.SUMS).is_file(), f"no release in {folder}: make release VERSION={__version__}"
    return folder


@pytest.fixture(scope="session")
def digest(release: Path) -> str:
    """That of the image in the archive, as its index says."""
    archive = release / files.image_archive(__version__, this_machine().arch)
    index = run(["tar", "-xOf", archive, "index.json"])
    (manifest,) = json.loads(index)["manifests"]
    return str(manifest["digest"])


@pytest.fixture(scope="session")
def box(release: Path, digest: str) -> Iterator[Sandbox]:
    """A cluster with the release's image and nothing else of ours."""
    box = Sandbox.named("release")
    box.down()
    box.up()
    try:
        archive = release / files.image_archive(__version__, this_machine().arch)
        assert box.load_image(archive) == [IMAGE]
        # A registry has it by its digest, too; an archive that is imported gets the name of its index alone.
        by_digest = f"{IMAGE.rpartition(':')[0]}@{digest}"
        run(box.cell().command(*CTR, "images", "tag", IMAGE, by_digest))
        yield box
    finally:
        if not os.environ.get("KEEP"):
            box.down()


@pytest.fixture(scope="session")
def kube(box: Sandbox) -> Kube:
    """An administrator, in a namespace with the tiny model."""
    kube = Kube.connect(box.kubeconfig, box.kubectl)
    for name in (SYSTEM, "models"):
        body: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
        kube.request("POST", "/api/v1/namespaces", body)
    box.model_volume("models", "models")
    return kube.within("models")


class Helm:
    """Helm as an administrator types it; the standard output, or the error as an assertion."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.program = helm_build().ensure(cache_folder(), Progress()) / "helm"

    def __call__(self, *arguments: str | Path) -> str:
        command = [self.program, "--kubeconfig", self.kubeconfig, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def helm(box: Sandbox) -> Helm:
    """Helm for the cluster."""
    return Helm(box.kubeconfig)
