"""Where the options of engines come from, and where they are written to."""

import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from llmservice.catalog.recorded_flags import Option, recording_of

FLAGS = Path(__file__).parents[2] / "operator/llmservice/catalog/flags"


def record(name: str, header: Iterable[str], options: Sequence[Option], variables: Sequence[str] = ()) -> None:
    """Write `flags/NAME.txt`: the lines of the header as comments, then what was found."""
    lines = "".join(f"# {line}\n" for line in header)
    (FLAGS / f"{name}.txt").write_text(lines + recording_of(options, variables))
    click.echo(f"{name}.txt: {len(options)} options, {len(variables)} variables")


def wheel(package: str, version: str, folder: Path) -> Path:
    """The wheel of a package, downloaded from the package index unless it is in the folder."""
    return _package(
        folder, f"{package.replace('-', '_')}-{version}-*.whl", f"{package}=={version}", "--only-binary=:all:"
    )


def sdist(package: str, version: str, folder: Path) -> Path:
    """The source of a package, the same way."""
    name = package.replace("-", "_")
    return _package(folder, f"{name}-{version}.tar.gz", f"{package}=={version}", f"--no-binary={package}")


def member(archive: tarfile.TarFile, name: str) -> str:
    """The text of a file in an archive; raises ClickException."""
    if not (found := archive.extractfile(name)):
        raise click.ClickException(f"{name} is no file in this package")
    return found.read().decode()


def git(clone: Path, *arguments: str) -> str:
    """What git prints about a clone."""
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603  (git, a tag)


def _package(folder: Path, pattern: str, wanted: str, kind: str) -> Path:
    if not (found := sorted(folder.glob(pattern))):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", kind]
        subprocess.run([*pip, f"--dest={folder}", wanted], check=True)  # noqa: S603  (pip, a version)
        found = sorted(folder.glob(pattern))
    return found[0]
