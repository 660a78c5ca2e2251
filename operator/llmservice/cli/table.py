"""Tables for terminals: columns as wide as they must be; what strangers wrote cannot steer the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click

from llmservice.untrusted.texts import cut, printable

_LONGEST = 1024


@dataclass(frozen=True, slots=True)
class Painted:
    """A cell in a colour of click's, which shows on a terminal alone."""

    text: str
    colour: str


def good(text: str) -> Painted:
    """What is as it should be."""
    return Painted(text, "green")


def bad(text: str) -> Painted:
    """What somebody has to look at."""
    return Painted(text, "red")


def warning(text: str) -> Painted:
    """What changes, or should be known."""
    return Painted(text, "yellow")


def table(rows: Iterable[Sequence[object]]) -> list[str]:
    """The rows as lines, their cells aligned; the first row may be a heading."""
    found = [list(row) for row in rows]
    widths = [max(len(cell(each)) for each in column) for column in zip(*found, strict=True)]
    return [_line(row, widths) for row in found]


def cell(value: object) -> str:
    """One value on one line; nothing is a dash."""
    text = value.text if isinstance(value, Painted) else value
    return cut(printable(str(text)), _LONGEST).replace("\n", " ") if text not in ("", None) else "-"


def _line(row: Sequence[object], widths: Sequence[int]) -> str:
    """Blanks at the end are left out: of what is painted they stand behind the colour."""
    cells = [(cell(each), width, each) for each, width in zip(row, widths, strict=True)]
    *before, (last, _, value) = cells
    return "".join(_painted(text, each) + " " * (width - len(text) + 2) for text, width, each in before) + _painted(
        last, value
    )


def _painted(text: str, value: object) -> str:
    return click.style(text, fg=value.colour) if isinstance(value, Painted) else text
