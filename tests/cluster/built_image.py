"""Images as the tests install them: built from their real Dockerfiles without pulling anything.

Their base is Debian's Python (tools/release/buildah.py); its digest, which only the real one has, is left out. Base and
result are kept in the user's cache: the same sources are built once.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
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
from tools.release.names import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """An image that holds the package `llmservice`; `reference` is the name under which a node knows it.

    `name` is that of its folders in the cache, of which the `kept` newest stay. `layers_stay` in buildah's storage for
    the next build, a gigabyte for each change of the sources; else the archive is all that is left.
    """

    name: str
    title: str
    dockerfile: str
    reference: str
    kept: int
    layers_stay: bool

    def archive(self) -> Path:
        """An OCI archive with compressed layers, as a registry would keep them. Built when sources changed."""
        inputs = {str(path.relative_to(ROOT)): path.read_bytes() for path in self._sources()}
        recipe = Recipe(name=self.name, version=__version__, inputs=inputs)
        build = Build(recipe=recipe, title=self.title, make=lambda *folders: self._make(inputs, *folders))
        archive = build.ensure(cache_folder(), Progress()) / self._file
        self._drop_old(archive)
        return archive

    @property
    def _file(self) -> str:
        return f"{self.name.removesuffix('-image')}.tar"

    def _sources(self) -> list[Path]:
        """What the Dockerfile copies, and what says so."""
        package = (path for path in (ROOT / "operator/llmservice").rglob("*") if path.is_file())
        files = (ROOT / self.dockerfile, ROOT / ".dockerignore", ROOT / "requirements/runtime.lock", *package)
        return sorted(path for path in files if "__pycache__" not in path.parts)

    def _make(self, inputs: Mapping[str, bytes], work: Path, output: Path, say: Say) -> None:
        """Build from a copy: the sources may change meanwhile, and the key is that of the copy."""
        check_programs()
        _copy(inputs, work)
        dockerfile = work / self.dockerfile
        dockerfile.write_text(without_digest(dockerfile.read_text()))
        say("base image")
        ensure_debian_base()
        say("buildah")
        image = build_image(work, "--file", str(dockerfile))
        buildah("push", "--quiet", image, f"oci-archive:{output / self._file}:{self.reference}")
        if not self.layers_stay:
            buildah("rmi", image)
        drop_old_images()

    def _drop_old(self, used: Path) -> None:
        """Every change of the sources is another archive; those of the last changes are enough."""
        others = set((cache_folder() / "builds").glob(f"{self.name}-*-{'?' * 12}/{self._file}")) - {used}
        newest_first = sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)
        for archive in newest_first[self.kept - 1 :]:
            shutil.rmtree(archive.parent, ignore_errors=True)


def _copy(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
