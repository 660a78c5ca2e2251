"""Flux's controllers of sources, Kustomizations and Helm releases, built from their Go modules (go.mod in `flux/`).

No part of the sandbox: the tests of GitOps clients start them by themselves. They need Go 1.26.
"""

import re
import shutil
from pathlib import Path

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe
from sandbox.commands import follow, run
from sandbox.progress import Say

MODULE = Path(__file__).parent / "flux"
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller")
CRDS = "crds"
_OWNER = "github.com/fluxcd"
_ARGUMENTS = ("-trimpath", "-p", "2", "-ldflags", "-s -w")


def flux_build() -> Build:
    """A folder with the controllers' programs, and their CRDs in `crds/`. Ten minutes on two cores."""
    inputs = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    version = required(inputs["go.mod"].decode(), f"{_OWNER}/source-controller")
    recipe = Recipe(name="flux", version=version, inputs={**inputs, "arguments": repr(_ARGUMENTS).encode()})
    return Build(recipe=recipe, title=f"Build Flux's controllers (source-controller {version})", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    modules = [f"{_OWNER}/{name}" for name in CONTROLLERS]
    follow(["go", "build", "-v", *_ARGUMENTS, "-o", f"{output}/", *modules], say, cwd=work, environment=ENVIRONMENT)
    (output / CRDS).mkdir()
    for module in modules:
        _copy_crds(module, work, output / CRDS)


def _copy_crds(module: str, work: Path, output: Path) -> None:
    source = run(["go", "list", "-m", "-f", "{{.Dir}}", module], cwd=work, environment=ENVIRONMENT)
    for path in sorted((Path(source.strip()) / "config" / "crd" / "bases").glob("*.yaml")):
        name = re.sub(r"[^a-z0-9._]", "-", path.name)
        (output / name).write_bytes(path.read_bytes())
