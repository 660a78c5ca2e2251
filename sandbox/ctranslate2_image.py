"""The server of `images/ctranslate2` as an image, for clusters without a registry: the same packages, on Debian 12."""

import shutil
from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.debian_root import check_machine, compile_python, debian, install, once
from sandbox.engine_image import ARCHIVE
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

VERSION = "4.8.5"
CTRANSLATE2_IMAGE = f"ghcr.io/llmservice/ctranslate2:{VERSION}-cpu"
SOURCE = Path(__file__).parents[1] / "images/ctranslate2"
PACKAGE, LOCK = SOURCE / "ctranslate2_server", SOURCE / "requirements.lock"
PYTHON = "3.11"
PACKAGES = (f"python{PYTHON}", "ca-certificates", "libgomp1")
CONFIG = ImageConfig(
    entrypoint=(f"python{PYTHON}", "-m", "ctranslate2_server"),
    environment={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    working_directory="/workspace",
)


def ctranslate2_image_build() -> Build:
    """A folder with the archive of the image. Needs debootstrap and root."""
    sources = {f"source {path.name}": path.read_bytes() for path in sorted(PACKAGE.glob("*.py"))}
    root = Path(__file__).with_name("debian_root.py")
    inputs = {
        "packages": LOCK.read_bytes(),
        "recipe": Path(__file__).read_bytes(),
        "root": root.read_bytes(),
        **sources,
    }
    recipe = Recipe(name="ctranslate2-image", version=VERSION, inputs=inputs)
    return Build(recipe=recipe, title=f"Pack the image of CTranslate2 {VERSION} for CPUs", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    check_machine()
    root = work / "root"
    once(work / "debian.done", lambda: debian(root, "bookworm", PACKAGES, say))
    packages = install(root, PYTHON, LOCK, say)
    shutil.copytree(PACKAGE, packages / PACKAGE.name, dirs_exist_ok=True)
    compile_python(root, PYTHON, [f"/usr/lib/python{PYTHON}", f"/{packages.relative_to(root)}"], say)
    say("packing")
    write_image(output / ARCHIVE, names=[CTRANSLATE2_IMAGE], roots=[root], config=CONFIG)
