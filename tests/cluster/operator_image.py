"""The operator's image as the tests install it: built from the real Dockerfile without pulling anything.

Its base is Debian's Python (tools/release/buildah.py); its digest, which only the real one has, is left out. Base and
result are kept in the user's cache: the same sources are built once.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from llmservice import __version__
from sandbox.cache import Build, Recipe, cache_folder
from sandbox.progress import Progress, Say
from tools.release.buildah import (
    build_image,
    buildah,
    check_programs,
    drop_old_images,
    ensure_debian_base,
    without_digest,
)
from tools.release.names import OPERATOR, ROOT, names

IMAGE = names().image(OPERATOR, __version__)
"""As in manifests/base/deployment.yaml."""

_NAME = "operator-image"
_KEPT = 4

__all__ = ["IMAGE", "ROOT", "operator_archive"]


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
    check_programs()
    for name, content in inputs.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    (work / "Dockerfile").write_text(without_digest((work / "Dockerfile").read_text()))
    say("base image")
    ensure_debian_base()
    say("buildah")
    buildah("push", "--quiet", build_image(work), f"oci-archive:{output}/operator.tar:{IMAGE}")
    drop_old_images()


def _drop_old() -> None:
    """Every change of the sources is another archive; those of the last changes are enough."""
    finished = (cache_folder() / "builds").glob(f"{_NAME}-*-{'?' * 12}/operator.tar")
    for archive in sorted(finished, key=lambda path: path.stat().st_mtime)[:-_KEPT]:
        shutil.rmtree(archive.parent, ignore_errors=True)


if __name__ == "__main__":
    operator_archive()
