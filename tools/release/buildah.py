"""The operator's image from the real Dockerfile without Docker.

Its base is pulled by digest where the registry is reached. Where it is not, Debian's own packages take its place: a
root by debootstrap under the name that the Dockerfile asks for, kept in the user's cache. That is for trying and
testing; what is published is built on the real base.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox.cache import cache_folder, locked
from sandbox.commands import follow
from sandbox.progress import Say
from tools.release.names import ROOT

_DIGEST = re.compile(r"(?<=bookworm)@sha256:[0-9a-f]{64}")
_PACKAGES = "python3-minimal,python3-venv,ca-certificates"
_SUPERFLUOUS = ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")
_CERTIFICATES = "/etc/ssl/certs"
"""Lent to the build: behind a company's proxy, pip needs the certificates of this machine."""
_KEPT_SECONDS = 3600.0
_ENVIRONMENT = {"BUILDAH_ISOLATION": "chroot"}
_SECONDS = 3600
"""Of one command: an image of a gigabyte on a busy machine."""


def without_digest(dockerfile: str) -> str:
    """A Dockerfile whose base is named by its tag alone: the digest is that of the real one."""
    return _DIGEST.sub("", dockerfile)


def base_name(*, digest: bool = False) -> str:
    """The image in the Dockerfile's FROM lines, without its digest or with it."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    (name,) = set(re.findall(r"^FROM (\S+)", text if digest else without_digest(text), re.MULTILINE))
    return str(name)


def pull_base() -> bool:
    """Whether the real base is here now, pulled if need be."""
    try:
        buildah("pull", "--quiet", "--policy", "ifmissing", base_name(digest=True))
    except RuntimeError:
        return False
    return True


def ensure_debian_base() -> None:
    """Debian's Python under the name of the base."""
    if buildah("images", "--quiet", "--filter", f"reference={base_name()}").strip():
        return
    root = _storage() / "base"
    with _building():
        shutil.rmtree(root, ignore_errors=True)
        _run("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(root))
        for folder in _SUPERFLUOUS:
            shutil.rmtree(root / folder)
        container = buildah("from", "scratch").strip()
        buildah("copy", "--quiet", container, str(root), "/")
        buildah("commit", "--quiet", "--rm", container, base_name())
        shutil.rmtree(root)


def build_image(context: Path, *options: str) -> str:
    """Build the Dockerfile of a folder; the image's ID. Its layers are kept for the next build."""
    lent = ("--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro")
    with _building():
        return buildah("bud", "--quiet", "--layers", *lent, *options, str(context)).split()[-1]


def build_dated_image(context: Path, epoch: int, identity: Path, say: Say) -> str:
    """Build it anew with every file dated by `epoch` (seconds), and say each line; the ID, which `identity` keeps."""
    lent = ("--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro")
    kept = ("--iidfile", str(identity), "--timestamp", str(epoch), "--no-cache")
    with _building():
        follow([*_command(), "bud", *kept, *lent, str(context)], say, environment=_ENVIRONMENT)
    return identity.read_text("ascii").strip()


def buildah(*arguments: str) -> str:
    """In a storage of our own; vfs and chroot also work where overlays and namespaces do not."""
    return _run(*_command(), *arguments)


def drop_old_images() -> None:
    """Remove what untagged builds of an hour ago and before left, but for layers that newer ones share.

    Each layer is a whole copy of the files, so that every change of the sources costs a gigabyte.
    """
    for image in _untagged():
        if image["created"] < time.time() - _KEPT_SECONDS:
            # One that another build goes on from, or has just removed, is left to it.
            with contextlib.suppress(RuntimeError):
                buildah("rmi", image["id"])


def _untagged() -> list[dict[str, Any]]:
    """None where the list fails, as it does while another build removes an image: the next build looks again."""
    try:
        listed = buildah("images", "--json", "--filter", "dangling=true")
    except RuntimeError:
        return []
    return json.loads(listed or "[]") or []


@contextlib.contextmanager
def _building() -> Iterator[None]:
    """One build at a time, so that every container that is there was left by a build that was cut off.

    Such containers keep whole images from being removed.
    """
    with locked(_storage() / "building.lock"):
        buildah("rm", "--all")
        yield


def check_programs() -> None:
    """Raise RuntimeError with the way out where a program is missing."""
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            raise RuntimeError(f"{program} is missing: apt-get install buildah debootstrap")


def _command() -> tuple[str, ...]:
    storage = _storage()
    return ("buildah", "--storage-driver", "vfs", "--root", str(storage / "root"), "--runroot", str(storage / "run"))


def _storage() -> Path:
    folder = cache_folder() / "operator-image"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(*command: str) -> str:
    environment = {**os.environ, **_ENVIRONMENT}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_SECONDS, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout
