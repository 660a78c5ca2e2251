"""Helm, built from its Go module (go.mod in `helm/` pins it and the Kubernetes it was made for).

Helm 3.19 and not a newer one: it is the last that Go 1.24 compiles, as the sandbox's Kubernetes does.
"""

import re
import shutil
from pathlib import Path

from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe
from sandbox.commands import follow
from sandbox.progress import Say

MODULE = Path(__file__).parent / "helm"


def helm_build() -> Build:
    """A folder with the one program `helm`. About a minute on two cores."""
    inputs = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    go_mod = inputs["go.mod"].decode()
    version = required(go_mod, "helm.sh/helm/v3")
    recipe = Recipe(name="helm", version=version, inputs={**inputs, "arguments": repr(arguments(go_mod)).encode()})
    return Build(recipe=recipe, title=f"Build Helm {version}", make=_make)


def required(go_mod: str, module: str) -> str:
    """The version of a module that a go.mod requires, `v3.19.5`."""
    found = re.search(rf"^(?:require)?\s*{re.escape(module)} (v[\d.]+)", go_mod, re.MULTILINE)
    if found is None:
        raise ValueError(f"go.mod: no line `{module} vX.Y.Z`")
    return found[1]


def arguments(go_mod: str) -> list[str]:
    """The arguments of `go build`, stamps included: without them `helm template` takes every cluster for 1.20."""
    minor = required(go_mod, "k8s.io/client-go").split(".")[1]
    stamps = {
        "internal/version.version": required(go_mod, "helm.sh/helm/v3"),
        "pkg/chartutil.k8sVersionMajor": "1",
        "pkg/chartutil.k8sVersionMinor": minor,
        "pkg/lint/rules.k8sVersionMajor": "1",
        "pkg/lint/rules.k8sVersionMinor": minor,
    }
    stamped = " ".join(f"-X helm.sh/helm/v3/{name}={value}" for name, value in stamps.items())
    return ["-trimpath", "-ldflags", f"-s -w {stamped}"]


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    stamped = arguments((work / "go.mod").read_text())
    build = ["go", "build", "-v", *stamped, "-o", f"{output}/", "helm.sh/helm/v3/cmd/helm"]
    follow(build, say, cwd=work, environment=ENVIRONMENT)
