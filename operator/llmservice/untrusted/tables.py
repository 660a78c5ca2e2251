"""Tables of plain text: columns as wide as they must be; what strangers wrote cannot steer the terminal."""

from collections.abc import Callable, Container, Iterable, Sequence

from llmservice.untrusted.texts import cut, printable

_LONGEST = 1024
_GAP = "  "
_Paint = Callable[[str, object], str]
"""A cell's text and its value → the text with its colour."""


def table(
    rows: Iterable[Sequence[object]], *, right: Container[int] = (), paint: _Paint = lambda text, _: text
) -> list[str]:
    """The rows as lines, cells to the left but those of the columns in `right`; the first row may be a heading."""
    found = [list(row) for row in rows]
    widths = [max(len(cell(each)) for each in column) for column in zip(*found, strict=True)]
    return [_line(row, widths, right, paint) for row in found]


def cell(value: object) -> str:
    """One value on one line; nothing is a dash."""
    text = "" if value is None else str(value)
    return cut(printable(text), _LONGEST).replace("\n", " ") or "-"


def _line(row: Sequence[object], widths: Sequence[int], right: Container[int], paint: _Paint) -> str:
    """Blanks are never painted; at the end of a line they are left out."""
    line = ""
    for place, (value, width) in enumerate(zip(row, widths, strict=True)):
        text = cell(value)
        blanks = " " * (width - len(text))
        line += f"{blanks}{paint(text, value)}" if place in right else f"{paint(text, value)}{blanks}"
        line += _GAP
    return line.rstrip(" ")
