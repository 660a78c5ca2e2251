"""The operator's image, built from the real Dockerfile without Docker and without pulling anything.

The base image is made by debootstrap and given the name that the Dockerfile asks for; its digest, which only the real
one has, is left out. Base and result are kept in the user's cache: the same sources are built once.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sandbox.cache import Build, Recipe, cache_folder
from sandbox.progress import Progress, Say

ROOT = Path(__file__).parents[2]
IMAGE = "ghcr.io/llmservice/operator:0.1.0"
"""As in manifests/base/deployment.yaml."""

_NAME = "operator-image"
_DIGEST = re.compile(r"(?<=bookworm)@sha256:[0-9a-f]{64}")
_KEPT = 4
_PACKAGES = "python3-minimal,python3-venv,ca-certificates"
_SUPERFLUOUS = ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")
_CERTIFICATES = "/etc/ssl/certs"
"""Lent to the build: behind a company's proxy, pip needs the certificates of this machine."""


def operator_archive() -> Path:
    """The image as an OCI archive with compressed layers, as a registry would keep them. Built when sources changed."""
    inputs = {str(path.relative_to(ROOT)): path.read_bytes() for path in _sources()}
    recipe = Recipe(name=_NAME, version=IMAGE.rpartition(":")[2], inputs=inputs)
    build = Build(recipe=recipe, title="Build the operator's image", make=lambda *folders: _make(inputs, *folders))
    archive = build.ensure(cache_folder(), Progress()) / "operator.tar"
    _drop_old()
    return archive


def _sources() -> list[Path]:
    """What the Dockerfile copies, and what says so."""
    package = (path for path in (ROOT / "operator/llmservice").rglob("*") if path.is_file())
    files = (ROOT / "Dockerfile", ROOT / ".dockerignore", ROOT / "requirements/runtime.lock", *package)
    return sorted(path for path in files if "__pycache__" not in path.parts)


def _make(inputs: Mapping[str, bytes], work: Path, output: Path, say: Say) -> None:
    """Build from a copy: the sources may change meanwhile, and the key is that of the copy."""
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            raise RuntimeError(f"{program} is missing: apt-get install buildah debootstrap")
    for name, content in inputs.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    (work / "Dockerfile").write_text(_DIGEST.sub("", (work / "Dockerfile").read_text()))
    say("base image")
    _ensure_base()
    say("buildah")
    image = _buildah("bud", "--quiet", "--layers", "--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro", str(work))
    _buildah("push", "--quiet", image.split()[-1], f"oci-archive:{output}/operator.tar:{IMAGE}")


def _drop_old() -> None:
    """Every change of the sources is another archive; those of the last changes are enough."""
    finished = (cache_folder() / "builds").glob(f"{_NAME}-*-{'?' * 12}/operator.tar")
    for archive in sorted(finished, key=lambda path: path.stat().st_mtime)[:-_KEPT]:
        shutil.rmtree(archive.parent, ignore_errors=True)


def base_name() -> str:
    """The image in the Dockerfile's FROM lines, without its digest."""
    text = _DIGEST.sub("", (ROOT / "Dockerfile").read_text())
    names = set(re.findall(r"^FROM (\S+)", text, re.MULTILINE))
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


if __name__ == "__main__":
    operator_archive()
