"""The real `transformers serve` for CPUs as an image that stands in for the one of `images/transformers`.

Debian 13 with its own build of PyTorch, which is for CPUs and small, and what `transformers/requirements.lock` names.
"""

from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.debian_root import check_machine, compile_python, debian, install, once
from sandbox.engine_image import ARCHIVE
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

VERSION = "5.23.0"
TRANSFORMERS_IMAGE = f"ghcr.io/llmservice/transformers:{VERSION}-cpu"
LOCK = Path(__file__).parent / "transformers" / "requirements.lock"
SUITE, PYTHON = "trixie", "3.13"
PACKAGES = ("python3", "python3-torch", "ca-certificates")
CONFIG = ImageConfig(
    entrypoint=("python3",),
    environment={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    working_directory="/workspace",
)


def transformers_image_build() -> Build:
    """A folder with the archive of the image. Downloads half a gigabyte; needs debootstrap, root and 6 GB of disk."""
    root = Path(__file__).with_name("debian_root.py")
    inputs = {"packages": LOCK.read_bytes(), "recipe": Path(__file__).read_bytes(), "root": root.read_bytes()}
    recipe = Recipe(name="transformers-image", version=VERSION, inputs=inputs)
    return Build(recipe=recipe, title=f"Pack the image of Transformers {VERSION} for CPUs", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    check_machine()
    root = work / "root"
    once(work / "debian.done", lambda: debian(root, SUITE, PACKAGES, say))
    packages = install(root, PYTHON, LOCK, say)
    compile_python(root, PYTHON, [f"/{packages.relative_to(root)}"], say)
    say("packing")
    write_image(output / ARCHIVE, names=[TRANSFORMERS_IMAGE], roots=[root], config=CONFIG)
