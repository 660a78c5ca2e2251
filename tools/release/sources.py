"""The checkout that a release is made from: its commit, what is not committed, and a copy without anything else."""

import subprocess
import tarfile
from pathlib import Path

from llmservice import __version__
from tools.release.changelog import section
from tools.release.checks import Tree
from tools.release.names import ROOT, Names, names
from tools.release.provenance import Source
from tools.release.renaming import rewrite


def checkout(version: str) -> Tree:
    """This checkout, as the checks of a release want to know it."""
    changed = [line[3:] for line in _git("status", "--porcelain").splitlines()]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return Tree(version=__version__, changed=changed, section=section(changelog, version))


def head(version: str, to: Names | None = None) -> Source:
    """The commit that is checked out, with its own names or others."""
    commit, epoch = _git("log", "-1", "--format=%H %ct").split()
    return Source(version=version, commit=commit, epoch=int(epoch), names=to or names())


def export(source: Source, folder: Path) -> None:
    """The files of a commit in an empty folder, dated by it, with the source's names instead of those committed."""
    archive = folder.with_name(f"{folder.name}.tar")
    _git("-c", "tar.umask=0022", "archive", f"--output={archive}", source.commit)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="tar")
    archive.unlink()
    committed = names()
    if source.names != committed:
        _rename(folder, committed, source.names)


def _rename(folder: Path, committed: Names, to: Names) -> None:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            rewrite(path, lambda text: committed.renamed(text, to))


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", "-C", str(ROOT), *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(arguments)}: {done.stderr.strip()[-500:]}")
    return done.stdout
