"""The controller of LeaderWorkerSets, built from its Go module (go.mod in `lws/` pins it).

No part of the sandbox: the tests of groups start it by themselves. It needs Go 1.26.
"""

import shutil
from pathlib import Path

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe
from sandbox.commands import follow, run
from sandbox.progress import Say

MODULE = Path(__file__).parent / "lws"
PROGRAM, CRDS = "lws", "crds"
_PATH = "sigs.k8s.io/lws"
_CRDS_IN_MODULE = Path("config/crd/bases")
_ARGUMENTS = ("-trimpath", "-p", "2", "-ldflags", "-s -w")


def lws_build() -> Build:
    """A folder with the program `lws`, and the published CRDs in `crds/`. Three minutes on two cores."""
    inputs = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    version = required(inputs["go.mod"].decode(), _PATH)
    recipe = Recipe(name="lws", version=version, inputs={**inputs, "arguments": repr((_ARGUMENTS, CRDS)).encode()})
    return Build(recipe=recipe, title=f"Build the LeaderWorkerSet controller {version}", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    build = ["go", "build", "-v", *_ARGUMENTS, "-o", f"{output / PROGRAM}", f"{_PATH}/cmd"]
    follow(build, say, cwd=work, environment=ENVIRONMENT)
    source = Path(run(["go", "list", "-m", "-f", "{{.Dir}}", _PATH], cwd=work, environment=ENVIRONMENT).strip())
    (output / CRDS).mkdir()
    for path in sorted((source / _CRDS_IN_MODULE).glob("*.yaml")):
        (output / CRDS / path.name).write_bytes(path.read_bytes())
