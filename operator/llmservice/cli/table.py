"""Tables for terminals: columns as wide as they must be; what strangers wrote cannot steer the terminal."""

from collections.abc import Iterable, Sequence

from llmservice.untrusted.texts import cut, printable

_LONGEST = 1024


def table(rows: Iterable[Sequence[object]]) -> list[str]:
    """The rows as lines, their cells aligned; the first row may be a heading."""
    cells = [[cell(each) for each in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(each.ljust(width) for each, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def cell(value: object) -> str:
    """One value on one line; nothing is a dash."""
    return cut(printable(str(value)), _LONGEST).replace("\n", " ") if value not in ("", None) else "-"
