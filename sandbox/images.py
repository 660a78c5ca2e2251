"""Images in the sandbox's containerd."""

import re
from pathlib import Path

from sandbox.cell import Cell
from sandbox.commands import run
from sandbox.errors import SandboxError

CTR = ("ctr", "--namespace", "k8s.io")


def load_image(cell: Cell, archive: Path) -> list[str]:
    """Import an OCI or Docker archive; the names it brought."""
    if not archive.is_file():
        raise SandboxError(f"{archive}: no such archive")
    # Through standard input: the cell sees its own /run and /var/lib, and the archive may lie there.
    with archive.open("rb") as content:
        said = run(cell.command(*CTR, "images", "import", "-"), stdin=content)
    return imported_names(said)


def imported_names(said: str) -> list[str]:
    """The names in ctr's `unpacking NAME (DIGEST)...done` lines."""
    return sorted(set(re.findall(r"^unpacking (\S+) \(", said, re.MULTILINE)))


def image_names(cell: Cell) -> list[str]:
    """Every image by the names pods use; the names by digest left out."""
    names = run(cell.command(*CTR, "images", "list", "--quiet")).split()
    return sorted(name for name in names if not name.startswith("sha256:") and "@" not in name)
