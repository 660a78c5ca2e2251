"""The rows of the gallery as values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROWS_FILE = Path(__file__).with_name("rows.yaml")


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: `count` devices of a type."""

    type: str
    count: int

    @property
    def label(self) -> str:
        """As names of files and resources have it: l4, 2xh100."""
        number = f"{self.count}x" if self.count > 1 else ""
        return f"{number}{self.type}".lower()

    def __str__(self) -> str:
        return f"{self.count} × {self.type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model, with the fields that rows.yaml describes; an empty `large` is `small`."""

    name: str
    small: str
    context: int
    licence: str
    large: str = ""
    quantization: str = ""
    args: tuple[str, ...] = ()
    sees: bool = False
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """All of rows.yaml; `requests` of full length must have room at once on the smallest devices."""

    engine: str
    requests: int
    ladder: tuple[Rung, ...]
    rows: tuple[Row, ...]


def read_table(file: Path = ROWS_FILE) -> Table:
    """The table; a row with another field raises TypeError."""
    table: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    rows = [Row(**{**row, "args": tuple(row.get("args", ()))}) for row in table["models"]]
    return Table(table["engine"], table["requests"], tuple(Rung(**rung) for rung in table["ladder"]), tuple(rows))
