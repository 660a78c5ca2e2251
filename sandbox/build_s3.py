"""An S3 server, built from its Go module (go.mod in `s3/` pins it): VersityGW, which keeps objects in a folder.

No part of the sandbox: tests start it by themselves. It needs Go 1.25, a newer one than the sandbox.
"""

import shutil
from pathlib import Path

from sandbox.build_helm import required
from sandbox.build_kubernetes import ENVIRONMENT
from sandbox.cache import Build, Recipe
from sandbox.commands import follow
from sandbox.progress import Say

MODULE = Path(__file__).parent / "s3"
_NAME = "github.com/versity/versitygw"
_ARGUMENTS = ("-trimpath", "-ldflags", "-s -w")


def s3_build() -> Build:
    """A folder with the one program `versitygw`. A minute and a half on two cores."""
    inputs = {path.name: path.read_bytes() for path in sorted(MODULE.iterdir())}
    version = required(inputs["go.mod"].decode(), _NAME)
    recipe = Recipe(name="s3", version=version, inputs={**inputs, "arguments": repr(_ARGUMENTS).encode()})
    return Build(recipe=recipe, title=f"Build the S3 server VersityGW {version}", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    shutil.copytree(MODULE, work, dirs_exist_ok=True)
    build = ["go", "build", "-v", *_ARGUMENTS, "-o", f"{output}/", f"{_NAME}/cmd/versitygw"]
    follow(build, say, cwd=work, environment=ENVIRONMENT)
