"""Argo CD's engine: one sync of a folder, with the project's health script, by the program in `argo_engine/`."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe, cache_folder
from sandbox.commands import follow
from sandbox.progress import Progress, Say
from tests.cluster.kube import Kube
from tests.gitops.lua import CUSTOMIZATION

MODULE = Path(__file__).parent / "argo_engine"
WAVE = "argocd.argoproj.io/sync-wave"
_ARGUMENTS = ("-trimpath", "-p", "2", "-ldflags", "-s -w")


def argo_build() -> Build:
    """A folder with the one program `argo-engine`. Three minutes on two cores."""
    inputs = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    version = required(inputs["go.mod"].decode(), "k8s.io/client-go")
    recipe = Recipe(name="argo-engine", version=version, inputs={**inputs, "arguments": repr(_ARGUMENTS).encode()})
    return Build(recipe=recipe, title="Build Argo CD's engine", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    follow(["go", "build", "-v", *_ARGUMENTS, "-o", f"{output}/", "."], say, cwd=work, environment=ENVIRONMENT)


@dataclass(frozen=True)
class Outcome:
    """What a sync came to. `objects` are what the folder has, and what should be pruned, by name."""

    succeeded: bool
    error: str
    synced: list[dict[str, Any]]
    objects: Mapping[str, dict[str, Any]]


@dataclass(frozen=True)
class Argo:
    """An application of Argo CD: a folder of manifests, and a namespace."""

    kube: Kube
    folder: Path

    def write(self, *bodies: Mapping[str, Any]) -> None:
        """What stands in Git: exactly these objects."""
        for path in self.folder.glob("*.yaml"):
            path.unlink()
        for body in bodies:
            (self.folder / f"{body['metadata']['name']}.yaml").write_text(json.dumps(body))

    def sync(self, seconds: int = 120) -> Outcome:
        """Apply, wait for each wave, prune."""
        return self._run(f"--timeout={seconds}s")

    def compare(self) -> Outcome:
        """Health and difference of each object, without writing."""
        return self._run("--dry-run")

    def _run(self, *arguments: str) -> Outcome:
        program = argo_build().ensure(cache_folder(), Progress()) / "argo-engine"
        where = (f"--kubeconfig={self.kube.kubeconfig}", f"--namespace={self.kube.namespace}")
        command = [str(program), *where, f"--health={CUSTOMIZATION / 'health.lua'}", *arguments, str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
        assert done.stdout, done.stderr[-4000:]
        told = json.loads(done.stdout)
        objects = {each["name"]: each for each in told["objects"] or []}
        return Outcome(done.returncode == 0, told.get("error", ""), told["synced"] or [], objects)
