"""A Debian with Python packages as the root of an image, for engines that are Python."""

import platform
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox.commands import follow, run
from sandbox.errors import SandboxError
from sandbox.progress import Say

_LEFT_OUT = ("dev", "var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/lib/libtorch-test")


def check_machine() -> None:
    """Raises SandboxError where the image cannot be packed."""
    if platform.machine() != "x86_64":
        raise SandboxError(f"the image is packed for x86_64, this machine is {platform.machine()}: use another one")
    if shutil.which("debootstrap") is None:
        raise SandboxError("debootstrap is not installed: apt-get install debootstrap")


def once(done: Path, step: Callable[[], None]) -> None:
    """Take a step unless an earlier attempt finished it."""
    if not done.exists():
        step()
        done.touch()


def debian(root: Path, suite: str, packages: Sequence[str], say: Say) -> None:
    """A minimal Debian with some packages; a folder that is there is emptied first."""
    shutil.rmtree(root, ignore_errors=True)
    follow(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", suite, root], say)
    for folder in _LEFT_OUT:
        shutil.rmtree(root / folder, ignore_errors=True)
    for folder in ("dev/shm", "var/cache/apt", "var/lib/apt/lists", "workspace"):
        (root / folder).mkdir(parents=True, exist_ok=True)


def install(root: Path, python: str, lock: Path, say: Say) -> Path:
    """Exactly what a lock names, for the Python of the image whatever Python runs this; the folder it lies in."""
    folder = root / f"usr/local/lib/python{python}/dist-packages"
    say(f"installing what {lock.name} names")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--no-cache", "--link-mode=copy", "--target", str(folder)]
    platform_ = [f"--python-version={python}", "--python-platform=x86_64-manylinux_2_36", "--only-binary=:all:"]
    follow([*uv, *platform_, "--no-deps", "--requirement", str(lock)], say)
    return folder


def compile_python(root: Path, python: str, folders: Sequence[str], say: Say) -> None:
    """Compile Python once: a pod could not keep the result. Not by date, which the image does not keep."""
    say("compiling Python")
    options = ["-q", "-f", "-j2", "--invalidation-mode=unchecked-hash"]
    run(["chroot", str(root), f"python{python}", "-m", "compileall", *options, *folders])
