"""The operator's image, built from the real Dockerfile without Docker and without pulling anything.

The base image is made by debootstrap and given the name that the Dockerfile asks for; it is kept in the user's cache.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from sandbox.cache import cache_folder

ROOT = Path(__file__).parents[2]
IMAGE = "ghcr.io/llmservice/operator:0.1.0"
"""As in manifests/base/deployment.yaml."""

_PACKAGES = "python3-minimal,python3-venv,ca-certificates"
_SUPERFLUOUS = ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")
_CERTIFICATES = "/etc/ssl/certs"
"""Lent to the build: behind a company's proxy, pip needs the certificates of this machine."""


def build_image(archive: Path) -> None:
    """Build the image into an OCI archive with compressed layers, as a registry would keep them."""
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            raise RuntimeError(f"{program} is missing: apt-get install buildah debootstrap")
    _ensure_base()
    _buildah("bud", "--layers", "--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro", "--tag", IMAGE, str(ROOT))
    _buildah("push", "--quiet", IMAGE, f"oci-archive:{archive}:{IMAGE}")


def base_name() -> str:
    """The image in the Dockerfile's FROM lines."""
    names = set(re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert len(names) == 1, names
    name: str = names.pop()
    return name


def _ensure_base() -> None:
    if _buildah("images", "--quiet", "--filter", f"reference={base_name()}").strip():
        return
    root = _storage() / "base"
    shutil.rmtree(root, ignore_errors=True)
    _run("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(root))
    for folder in _SUPERFLUOUS:
        shutil.rmtree(root / folder)
    container = _buildah("from", "scratch").strip()
    _buildah("copy", "--quiet", container, str(root), "/")
    _buildah("commit", "--quiet", "--rm", container, base_name())
    shutil.rmtree(root)


def _buildah(*arguments: str) -> str:
    """In a storage of our own; vfs and chroot also work where overlays and namespaces do not."""
    storage = _storage()
    options = ("--storage-driver", "vfs", "--root", str(storage / "root"), "--runroot", str(storage / "run"))
    return _run("buildah", *options, *arguments)


def _storage() -> Path:
    folder = cache_folder() / "operator-image"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(*command: str) -> str:
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)  # noqa: S603
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout
