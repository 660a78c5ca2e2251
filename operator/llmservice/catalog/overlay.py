"""An administrator's rows over the shipped ones: the data of one ConfigMap, and what the catalogue becomes with it.

| in the ConfigMap                               | known by              | does                                     |
|------------------------------------------------|-----------------------|------------------------------------------|
| engines.yaml: ENGINE.versions.VERSION          | the version           | adds the row, or takes its place whole   |
| engines.yaml: ENGINE.default                   |                       | is what resources without a version use  |
| accelerators.yaml: accelerators, vendors       | name                  | adds the row, or takes its place whole   |
| accelerators.yaml: groups, ambiguous           | name                  | the same                                 |
| accelerators.yaml: schemes                     | its first node label  | the same                                 |
| accelerators.yaml: platforms                   | name                  | the same, and is looked for first        |
| models.yaml: models                            | id and aliases        | adds the row, or takes its place whole   |

What is left out stays as shipped. An empty ConfigMap changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from llmservice.catalog.accelerator_rows import TABLES
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import Table, catalogue_of, shipped_models, shipped_table, table_in
from llmservice.catalog.rows import ACCELERATORS_FILE, ENGINES_FILE, MODELS_FILE, mapping
from llmservice.errors import InvalidCatalogue

_FILES = (ENGINES_FILE, ACCELERATORS_FILE, MODELS_FILE)


def overlaid(data: Any) -> Catalogue:
    """The shipped catalogue with an overlay's rows over it; `data` maps file names to their texts.

    It may come from a file that no API server has seen. Raises InvalidCatalogue naming file, row and field.
    """
    if not isinstance(data, Mapping):
        raise InvalidCatalogue("data", f"must be a mapping with the keys {', '.join(_FILES)}")
    for name in data.keys() - set(_FILES):
        raise InvalidCatalogue(name, f"is no file of the catalogue; use the keys {', '.join(_FILES)}")
    models = _given(data, MODELS_FILE)
    catalogue = catalogue_of(
        engines=_engines(shipped_table(ENGINES_FILE), _given(data, ENGINES_FILE)),
        accelerators=_accelerators(shipped_table(ACCELERATORS_FILE), _given(data, ACCELERATORS_FILE)),
    )
    return replace(catalogue, models=shipped_models().overlaid(models)) if models else catalogue


def _given(data: Mapping[str, Any], name: str) -> Table:
    """The table of one key; a text of nothing but comments is an empty one."""
    text = data.get(name, "")
    if not isinstance(text, str):
        raise InvalidCatalogue(name, f"must be a text: put | after the colon, as in `{name}: |`")
    lines = (line.strip() for line in text.splitlines())
    return table_in(text, name) if any(line and not line.startswith("#") for line in lines) else {}


def _engines(shipped: Table, given: Table) -> Table:
    return {**shipped, **{engine: _engine(engine, shipped, row) for engine, row in given.items()}}


def _engine(engine: str, shipped: Table, raw: Any) -> Table:
    where = f"{ENGINES_FILE}: {engine}"
    if engine not in shipped:
        raise InvalidCatalogue(where, f"there is no such engine; name one of: {', '.join(sorted(shipped))}")
    row = mapping(raw, where)
    for field in row.keys() - {"default", "versions"}:
        raise InvalidCatalogue(where, f"unknown field {field}; known are default, versions")
    versions = mapping(row.get("versions", {}), f"{where}: versions")
    before = shipped[engine]
    return {"default": row.get("default", before["default"]), "versions": {**before["versions"], **versions}}


def _accelerators(shipped: Table, given: Table) -> Table:
    for name in given.keys() - set(TABLES):
        raise InvalidCatalogue(ACCELERATORS_FILE, f"unknown table {name}; known are {', '.join(TABLES)}")
    return {**shipped, **{name: _MERGES[name](shipped[name], rows, name) for name, rows in given.items()}}


def _by_name(shipped: Table, given: Any, table: str) -> Table:
    return {**shipped, **mapping(given, f"{ACCELERATORS_FILE}: {table}")}


def _first(shipped: Table, given: Any, table: str) -> Table:
    """Given platforms are looked for before the shipped ones."""
    rows = mapping(given, f"{ACCELERATORS_FILE}: {table}")
    return {**rows, **{name: row for name, row in shipped.items() if name not in rows}}


def _rows(known_by: Callable[[Any], Any]) -> Callable[[list[Any], Any, str], list[Any]]:
    def merge(shipped: list[Any], given: Any, table: str) -> list[Any]:
        if not isinstance(given, list):
            raise InvalidCatalogue(f"{ACCELERATORS_FILE}: {table}", "must be a list: begin each row with '- '")
        replaced = [known_by(row) for row in given]
        return [*(row for row in shipped if known_by(row) not in replaced), *given]

    return merge


def _name(row: Any) -> Any:
    return row.get("name") if isinstance(row, Mapping) else None


def _first_label(scheme: Any) -> Any:
    labels = scheme.get("labels") if isinstance(scheme, Mapping) else None
    return next(iter(labels), None) if isinstance(labels, Mapping) else None


_MERGES: Mapping[str, Callable[[Any, Any, str], Any]] = {
    "vendors": _by_name,
    "schemes": _rows(_first_label),
    "platforms": _first,
    "accelerators": _rows(_name),
    "groups": _by_name,
    "ambiguous": _by_name,
}
