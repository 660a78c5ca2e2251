"""Tables for terminals, in colours where one is there."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import click

from llmservice.untrusted import tables


@dataclass(frozen=True, slots=True)
class Painted:
    """A cell in a colour of click's, which shows on a terminal alone."""

    text: str
    colour: str

    def __str__(self) -> str:
        """Without the colour."""
        return self.text


def good(text: str) -> Painted:
    """What is as it should be."""
    return Painted(text, "green")


def bad(text: str) -> Painted:
    """What somebody has to look at."""
    return Painted(text, "red")


def warning(text: str) -> Painted:
    """What changes, or should be known."""
    return Painted(text, "yellow")


def table(rows: Iterable[Sequence[object]], *, right: Container[int] = ()) -> list[str]:
    """The rows as lines, cells to the left but those of the columns in `right`; the first row may be a heading."""
    return tables.table(rows, right=right, paint=_painted)


def _painted(text: str, value: object) -> str:
    return click.style(text, fg=value.colour) if isinstance(value, Painted) else text
