"""`python -m tools.workflows`: lint .github; exit code 1 where a linter finds something."""

import subprocess
import sys
from pathlib import Path

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe, cache_folder
from sandbox.commands import follow
from sandbox.progress import Progress, Say
from tools.release.names import ROOT
from tools.release.python_files import environment_build

MODULE = Path(__file__).parent
_GO = ("go.mod", "go.sum", "programs.go")


def actionlint_build() -> Build:
    """A folder with the one program `actionlint`, from its Go module."""
    inputs = {name: (MODULE / name).read_bytes() for name in _GO}
    version = required(inputs["go.mod"].decode(), "github.com/rhysd/actionlint")
    recipe = Recipe(name="actionlint", version=version, inputs=inputs)
    return Build(recipe=recipe, title=f"Build actionlint {version}", make=_make)


def main() -> int:
    """Run both; the number of those that found something."""
    progress = Progress()
    actionlint = actionlint_build().ensure(cache_folder(), progress) / "actionlint"
    zizmor = environment_build().ensure(cache_folder(), progress) / "bin" / "zizmor"
    commands = (
        [str(actionlint), "-color"],
        [str(zizmor), "--offline", "--no-progress", "--quiet", ".github"],
    )
    return sum(subprocess.run(command, cwd=ROOT, check=False).returncode != 0 for command in commands)  # noqa: S603


def _make(work: Path, output: Path, say: Say) -> None:
    for name in _GO:
        (work / name).write_bytes((MODULE / name).read_bytes())
    build = ["go", "build", "-v", "-o", f"{output}/", "github.com/rhysd/actionlint/cmd/actionlint"]
    follow(build, say, cwd=work, environment=ENVIRONMENT)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
