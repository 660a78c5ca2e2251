"""models.yaml: rows become what is known of models, by their names on the hub."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.catalog.rows import MODELS_FILE, mapping, typed
from llmservice.errors import InvalidCatalogue
from llmservice.models.model_facts import ModelFacts
from llmservice.models.plausible import implausible
from llmservice.models.sizes import GIB

Row = Mapping[str, Any]
"""A row as YAML gives it."""
_TABLES = ("models", "sources")
_OWN = ("id", "aliases", "like", "file_gib", "dimensions_from", "size_from")
"""Fields of a row that are no facts as they stand."""
_OF_THE_FILES = ("file_gib", "size_from")
"""What is true of one set of files: weights in another number of bits have others."""


@dataclass(frozen=True, slots=True)
class KnownModels:
    """Rows as YAML gives them, by their folded names; a row becomes facts when it is asked for."""

    rows: Mapping[str, Row]
    names: tuple[str, ...]

    def facts(self, name: str) -> ModelFacts | None:
        """What is known of a model, `owner/name` in any case; None when it has no row. Raises InvalidCatalogue."""
        row = self.rows.get(name.casefold())
        return None if row is None else _facts(row, self._where(row))

    def overlaid(self, raw: Any) -> "KnownModels":
        """With the rows of another table of this form, which win; raises InvalidCatalogue naming the row.

        Each of them is read: what is wrong in a row of one's own is said at once.
        """
        given = known_models(raw, self.rows)
        for name in given.names:
            given.facts(name)
        added = tuple(name for name in given.names if name.casefold() not in self.rows)
        return KnownModels({**self.rows, **given.rows}, (*self.names, *added))

    @staticmethod
    def _where(row: Row) -> str:
        return f"{MODELS_FILE}: {row.get('id')}"


def known_models(raw: Any, others: Mapping[str, Row] | None = None) -> KnownModels:
    """The models of a table; `like` may name one of `others` too. Raises InvalidCatalogue naming the row."""
    table = mapping(raw, MODELS_FILE)
    for name in table.keys() - set(_TABLES):
        raise InvalidCatalogue(MODELS_FILE, f"unknown table {name}; known tables: {', '.join(_TABLES)}")
    listed = table.get("models", [])
    if not isinstance(listed, list):
        raise InvalidCatalogue(f"{MODELS_FILE}: models", "must be a list: begin each row with '- '")
    rows: dict[str, Row] = {}
    names: list[str] = []
    for row in (_resolved(each, {**(others or {}), **rows}) for each in listed):
        for name in _names(row):
            if name.casefold() in rows:
                raise InvalidCatalogue(f"{MODELS_FILE}: {name}", "is named twice; give each model one row")
            rows[name.casefold()] = row
            names.append(name)
    return KnownModels(rows, tuple(names))


def _resolved(raw: Any, before: Mapping[str, Row]) -> Row:
    """The row with what it takes from the one it is like."""
    row = mapping(raw, f"{MODELS_FILE}: models")
    if "like" not in row:
        return row
    base = before.get(str(row["like"]).casefold())
    if base is None:
        where = f"{MODELS_FILE}: {row.get('id')}"
        raise InvalidCatalogue(where, f"like: {row['like']} has no row above this one; write one, or correct the name")
    left = ("id", "aliases", *(_OF_THE_FILES if "quantization" in row else ()))
    return {**{name: value for name, value in base.items() if name not in left}, **row}


def _names(row: Row) -> Iterator[str]:
    aliases = row.get("aliases", [])
    named = [row.get("id"), *(aliases if isinstance(aliases, list) else [None])]
    for name in named:
        if not isinstance(name, str) or not name:
            raise InvalidCatalogue(f"{MODELS_FILE}: {row.get('id')}", "id must be a name, aliases a list of names")
        yield name


def _facts(row: Row, where: str) -> ModelFacts:
    gib = row.get("file_gib", 0)
    if not isinstance(gib, int | float) or not 0 <= gib < GIB:
        raise InvalidCatalogue(where, "file_gib: must be a number of GiB, without quotes")
    given = {name: value for name, value in row.items() if name not in _OWN}
    facts = typed(ModelFacts, given, where, **({"file_bytes": round(gib * GIB)} if gib else {}))
    if problem := implausible(facts):
        raise InvalidCatalogue(where, f"{problem}; correct it")
    return facts
