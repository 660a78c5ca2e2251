"""Making every file of a release, one after the other, into a folder that is there whole or not at all."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox.cache import cache_folder
from sandbox.progress import Progress
from tools.release import files
from tools.release.buildah import (
    base_name,
    build_dated_image,
    buildah,
    check_programs,
    ensure_debian_base,
    pull_base,
    without_digest,
)
from tools.release.changelog import absolute, section
from tools.release.chart import pinned_install, pinned_table, pinned_values, write_chart
from tools.release.krew import krew_manifest
from tools.release.names import OPERATOR
from tools.release.oci_layout import manifest_digest, pack_layout
from tools.release.provenance import Source, provenance
from tools.release.python_files import environment_build, plugin_path, this_machine, write_distributions, write_plugin
from tools.release.renaming import rewrite
from tools.release.sources import export
from tools.sbom.document import sbom


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is not built here: the image, if its `digest` is given; kubectl-llm, if its archives lie in `plugins`."""

    digest: str = ""
    plugins: Path | None = None
    builder: str = ""
    """The URI of who builds; empty means somebody by hand."""


@dataclass(slots=True, kw_only=True)
class Build:
    """One release in the making: `work` is thrown away, `output` becomes the release."""

    source: Source
    options: Options
    work: Path
    output: Path
    progress: Progress
    base: Mapping[str, str] = field(default_factory=dict)

    @property
    def tree(self) -> Path:
        """The copy of the sources."""
        return self.work / "source"

    def everything(self) -> None:
        """Each file; those that name others come after them."""
        with self.progress.step(f"sources of {self.source.commit[:12]}"):
            export(self.source, self.tree)
        digest = self.options.digest or self.image()
        self.chart(digest)
        self.distributions()
        self.plugins()
        self.papers()

    def image(self) -> str:
        """The operator's image for this machine; its digest."""
        check_programs()
        name = files.image_archive(self.source.version, this_machine().arch)
        with self.progress.step(name) as say:
            if pull_base():
                self.base = dict(zip(("name", "digest"), base_name(digest=True).split("@"), strict=True))
            else:
                say("the registry of the base is not reached: Debian's own Python takes its place")
                self.base = {"name": f"debian bookworm by debootstrap, instead of {base_name()}"}
                ensure_debian_base()
                rewrite(self.tree / "Dockerfile", without_digest)
            image = build_dated_image(self.tree, self.source.epoch, self.work / "image", say)
            layout = self.work / "layout"
            buildah("push", "--quiet", image, f"oci:{layout}:{self.source.names.image(OPERATOR, self.source.version)}")
            buildah("rmi", "--force", image)
            pack_layout(layout, self.output / name, self.source.epoch)
        self.progress.note(f"on {self.base['name']}: {manifest_digest(layout)}")
        return manifest_digest(layout)

    def chart(self, digest: str) -> None:
        """Chart and install.yaml, with the image by its digest."""
        chart, version = self.tree / "charts" / "llmservice", self.source.version
        rewrite(chart / "values.yaml", lambda text: pinned_values(text, digest))
        rewrite(chart / "README.md", lambda text: pinned_table(text, digest))
        targets = (self.output / files.chart_archive(version), self.output / files.chart_layout(version))
        with self.progress.step(" and ".join(path.name for path in targets)):
            write_chart(chart, self.work / "chart", *targets, self.source.epoch)
        with self.progress.step(files.INSTALL):
            install = (self.tree / "manifests" / files.INSTALL).read_text("utf-8")
            (self.output / files.INSTALL).write_text(pinned_install(install, self.source, digest), "utf-8")

    def distributions(self) -> None:
        """Wheel and sdist."""
        python = _python(self.progress)
        with self.progress.step("wheel and sdist") as say:
            write_distributions(python, self.tree, self.output, self.source.epoch, say)

    def plugins(self) -> None:
        """kubectl-llm for this machine, or what others built for theirs, and krew's manifest of them."""
        version = self.source.version
        if self.options.plugins is None:
            write_plugin_here(self.source, self.tree, self.work / "plugin", self.output, self.progress)
        else:
            for archive in sorted(self.options.plugins.rglob("kubectl-llm_*.tar.gz")):
                shutil.copy(archive, self.output)
        found = {files.plugin_target(path.name, version): files.sha256(path) for path in self.output.iterdir()}
        digests = {target: digest for target, digest in found.items() if target}
        with self.progress.step(f"{files.KREW} ({', '.join(f'{each.os}/{each.arch}' for each in digests)})"):
            (self.output / files.KREW).write_text(krew_manifest(version, self.source.names, digests), "utf-8")

    def papers(self) -> None:
        """SBOM, notes, provenance, checksums."""
        with self.progress.step(files.SBOM):
            (self.output / files.SBOM).write_text(sbom(), "utf-8")
        with self.progress.step(files.NOTES):
            (self.output / files.NOTES).write_text(self._notes(), "utf-8")
        with self.progress.step(f"{files.PROVENANCE} and {files.SUMS}"):
            builder = self.options.builder or f"{self.source.names.repository}#by-hand"
            said = provenance(self.source, self._digests(), self.base, builder)
            (self.output / files.PROVENANCE).write_text(said, "utf-8")
            (self.output / files.SUMS).write_text(files.sums(self._digests()), "utf-8")

    def _notes(self) -> str:
        found = section((self.tree / "CHANGELOG.md").read_text("utf-8"), self.source.version)
        if found is None:
            raise ValueError(f"CHANGELOG.md has nothing of {self.source.version}")
        return absolute(found.text, f"{self.source.names.repository}/blob/v{self.source.version}") + "\n"

    def _digests(self) -> dict[str, str]:
        return {path.name: files.sha256(path) for path in self.output.iterdir()}


def write_plugin_here(source: Source, tree: Path, work: Path, output: Path, progress: Progress) -> None:
    """kubectl-llm for this machine."""
    python, archive = _python(progress), plugin_path(output, source.version)
    with progress.step(archive.name) as say:
        write_plugin(python, tree, work, archive, source.epoch, say)


def make_release(source: Source, options: Options, target: Path, progress: Progress) -> None:
    """Fill the folder `target`, which is replaced as a whole."""
    with workplace(target) as (work, output):
        Build(source=source, options=options, work=work, output=output, progress=progress).everything()


@contextmanager
def workplace(target: Path) -> Iterator[tuple[Path, Path]]:
    """A folder to work in and one to fill, beside the target, which the second becomes if nothing was raised."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".making-", dir=target.parent) as folder:
        work, output = Path(folder, "work"), Path(folder, "output")
        work.mkdir()
        output.mkdir()
        yield work, output
        shutil.rmtree(target, ignore_errors=True)
        output.rename(target)


def _python(progress: Progress) -> Path:
    return environment_build().ensure(cache_folder(), progress) / "bin" / "python"
