"""The commands of a page of the documentation, in the paths that the page marks for it.

A mark is a comment before a fenced block: `<!-- run: PATH -->`, with `, file: NAME` for what is written to a file,
`, in the background` for a command that goes on, or `, repeated` for one that is repeated until it prints what is
shown.
In a block, lines after `$ ` are commands (a backslash at their end joins the next line); the lines below a command are
what it prints.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
_BLOCK = re.compile(
    r"^<!-- run: (?P<path>[\w ]+)(?:, file: (?P<file>[\w.-]+))?(?P<background>, in the background)?"
    r"(?P<repeated>, repeated)? -->\n"
    r"```\w+\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the lines that the page shows below it, empty where it shows none."""

    text: str
    shown: tuple[str, ...] = ()
    background: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """Something to write to a file."""

    name: str
    text: str


def steps(page: str, path: str) -> list[Command | File]:
    """What a page does on one of its paths, in its order; `page` is relative to docs/."""
    blocks = [match for match in _blocks(page) if match["path"] == path]
    return [step for match in blocks for step in _steps(match)]


def unreadable_marks(page: str) -> int:
    """How many marks of a page are not understood, and so would not be run."""
    return (DOCS / page).read_text("utf-8").count("<!-- run") - len(list(_blocks(page)))


def paths(page: str) -> list[str]:
    """The names of the paths of a page, each once."""
    return list(dict.fromkeys(match["path"] for match in _blocks(page)))


def _blocks(page: str) -> Iterator[re.Match[str]]:
    return _BLOCK.finditer((DOCS / page).read_text("utf-8"))


def _steps(block: re.Match[str]) -> Iterator[Command | File]:
    if block["file"]:
        yield File(block["file"], block["text"])
        return
    for part in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
        lines = part.rstrip("\n").split("\n")
        size = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\"))
        ways = {"background": bool(block["background"]), "repeated": bool(block["repeated"])}
        yield Command("\n".join(lines[:size]), tuple(lines[size:]), **ways)
