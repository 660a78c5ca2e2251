"""The image of `llmservice bench --in-cluster` for the tests: from its real Dockerfile, without pulling.

Its base is Debian's Python, as that of the operator's image (operator_image.py).
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from llmservice import __version__
from llmservice.bench.job import IMAGE
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
from tools.release.names import ROOT

_NAME, _FILE = "bench-image", "images/bench/Dockerfile"


def bench_archive() -> Path:
    """The image as an OCI archive, 300 MB. Built when sources changed; downloads AIPerf and its packages."""
    inputs = {str(path.relative_to(ROOT)): path.read_bytes() for path in _sources()}
    recipe = Recipe(name=_NAME, version=__version__, inputs=inputs)
    build = Build(recipe=recipe, title="Build the image of the bench", make=lambda *folders: _make(inputs, *folders))
    archive = build.ensure(cache_folder(), Progress()) / "bench.tar"
    for other in (cache_folder() / "builds").glob(f"{_NAME}-*-{'?' * 12}"):
        if other != archive.parent:
            shutil.rmtree(other, ignore_errors=True)
    return archive


def _sources() -> list[Path]:
    """What the Dockerfile copies, and what says so."""
    package = (path for path in (ROOT / "operator/llmservice").rglob("*") if path.is_file())
    files = (ROOT / _FILE, ROOT / ".dockerignore", ROOT / "requirements/runtime.lock", *package)
    return sorted(path for path in files if "__pycache__" not in path.parts)


def _make(inputs: Mapping[str, bytes], work: Path, output: Path, say: Say) -> None:
    """Build from a copy: the sources may change meanwhile, and the key is that of the copy."""
    check_programs()
    for name, content in inputs.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    (work / _FILE).write_text(without_digest((work / _FILE).read_text()))
    say("base image")
    ensure_debian_base()
    say("buildah")
    image = build_image(work, "--file", str(work / _FILE))
    buildah("push", "--quiet", image, f"oci-archive:{output}/bench.tar:{IMAGE}")
    buildah("rmi", image)  # 3 GB, as it has a copy for each layer; the generator's own stays for the next build
    drop_old_images()


if __name__ == "__main__":
    bench_archive()
