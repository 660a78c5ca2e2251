"""Catalogue overlay: an administrator's rows, from one ConfigMap, over the shipped ones.

| in the ConfigMap                               | key                   | effect                                   |
|------------------------------------------------|-----------------------|------------------------------------------|
| engines.yaml: ENGINE.versions.VERSION          | the version           | adds or replaces the whole row           |
| engines.yaml: ENGINE.default                   |                       | the version of resources without one     |
| accelerators.yaml: accelerators, vendors       | name                  | adds or replaces the whole row           |
| accelerators.yaml: groups, ambiguous           | name                  | the same                                 |
| accelerators.yaml: schemes                     | its first node label  | the same                                 |
| accelerators.yaml: platforms                   | name                  | the same; checked before shipped ones    |
| accelerators.yaml: prices                      | the field             | sets it; none are shipped                |
| models.yaml: models                            | id and aliases        | adds or replaces the whole row           |
| proxy.yaml: image                              |                       | the image of the proxy before engines    |

Rows that are not in the ConfigMap stay as shipped.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from llmservice.catalog.accelerator_rows import TABLES
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.loader import Table, catalogue_of, shipped_models, shipped_table, table_in
from llmservice.catalog.rows import ACCELERATORS_FILE, ENGINES_FILE, MODELS_FILE, PROXY_FILE, mapping
from llmservice.errors import InvalidCatalogue

_FILES = (ENGINES_FILE, ACCELERATORS_FILE, MODELS_FILE, PROXY_FILE)


def overlaid(data: Any) -> Catalogue:
    """The shipped catalogue with an overlay; `data` maps file names to YAML texts.

    `data` may come from an unvalidated file. Raises InvalidCatalogue naming file, row and field.
    """
    if not isinstance(data, Mapping):
        raise InvalidCatalogue("data", f"must be a mapping with the keys {', '.join(_FILES)}")
    for name in data.keys() - set(_FILES):
        raise InvalidCatalogue(name, f"is not a file of the catalogue; use the keys {', '.join(_FILES)}")
    models = _given(data, MODELS_FILE)
    catalogue = catalogue_of(
        engines=_engines(shipped_table(ENGINES_FILE), _given(data, ENGINES_FILE)),
        accelerators=_accelerators(shipped_table(ACCELERATORS_FILE), _given(data, ACCELERATORS_FILE)),
        proxy=_given(data, PROXY_FILE) or None,
    )
    return replace(catalogue, models=shipped_models().overlaid(models)) if models else catalogue


def _given(data: Mapping[str, Any], name: str) -> Table:
    """The table of one key; empty when the text has only comments."""
    text = data.get(name, "")
    if not isinstance(text, str):
        raise InvalidCatalogue(name, f"must be a string: put | after the colon, as in `{name}: |`")
    lines = (line.strip() for line in text.splitlines())
    return table_in(text, name) if any(line and not line.startswith("#") for line in lines) else {}


def _engines(shipped: Table, given: Table) -> Table:
    return {**shipped, **{engine: _engine(engine, shipped, row) for engine, row in given.items()}}


def _engine(engine: str, shipped: Table, raw: Any) -> Table:
    where = f"{ENGINES_FILE}: {engine}"
    if engine not in shipped:
        raise InvalidCatalogue(where, f"there is no such engine; use one of: {', '.join(sorted(shipped))}")
    row = mapping(raw, where)
    for field in row.keys() - {"default", "versions"}:
        raise InvalidCatalogue(where, f"unknown field {field}; known fields: default, versions")
    versions = mapping(row.get("versions", {}), f"{where}: versions")
    before = shipped[engine]
    return {"default": row.get("default", before["default"]), "versions": {**before["versions"], **versions}}


def _accelerators(shipped: Table, given: Table) -> Table:
    for name in given.keys() - set(TABLES):
        raise InvalidCatalogue(ACCELERATORS_FILE, f"unknown table {name}; known tables: {', '.join(TABLES)}")
    return {**shipped, **{name: _MERGES[name](shipped.get(name, {}), rows, name) for name, rows in given.items()}}


def _by_name(shipped: Table, given: Any, table: str) -> Table:
    return {**shipped, **mapping(given, f"{ACCELERATORS_FILE}: {table}")}


def _first(shipped: Table, given: Any, table: str) -> Table:
    """Platforms of the overlay are checked before the shipped ones."""
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
    "prices": _by_name,
}
