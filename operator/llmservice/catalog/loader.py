"""The loader: catalogue files → typed, frozen rows."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from llmservice.catalog.accelerator_rows import accelerators_from
from llmservice.catalog.catalogue import Catalogue, EngineVersions
from llmservice.catalog.checks import checked_version
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.model_rows import KnownModels, known_models
from llmservice.catalog.recorded_flags import Recording, recording_in
from llmservice.catalog.rows import ACCELERATORS_FILE, ENGINES_FILE, MODELS_FILE, PROXY_FILE, mapping, typed
from llmservice.catalog.support import Driver, Support
from llmservice.catalog.yaml_values import ValuesLoader
from llmservice.errors import InvalidCatalogue

Table = Mapping[str, Any]
"""A catalogue file as YAML gives it."""

_ENGINES, _ROWS = "engines", ".yaml"


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that ships with this version of the operator."""
    return catalogue_of(engines=shipped_table(ENGINES_FILE), accelerators=shipped_table(ACCELERATORS_FILE))


@cache
def shipped_models() -> KnownModels:
    """The models this version was shipped with: read when one is first asked for, for most commands need none."""
    return known_models(shipped_table(MODELS_FILE))


def models_of(catalogue: Catalogue) -> KnownModels:
    """The models a catalogue knows."""
    return catalogue.models or shipped_models()


def catalogue_of(*, engines: Table, accelerators: Table, proxy: Table | None = None) -> Catalogue:
    """A catalogue from its tables as YAML gives them; raises InvalidCatalogue naming the row. `proxy`: as shipped."""
    image = _proxy_image(shipped_table(PROXY_FILE) if proxy is None else proxy)
    return Catalogue(engines=_engines(engines), proxy_image=image, **accelerators_from(accelerators))


def _proxy_image(table: Table) -> str:
    image = table.get("image")
    if not isinstance(image, str) or not image or table.keys() != {"image"}:
        raise InvalidCatalogue(PROXY_FILE, "must have one field, image: a reference in quotes")
    return image


@cache
def shipped_table(name: str) -> Table:
    """One table of the shipped catalogue. Cached and shared: do not modify it."""
    return _shipped_engines() if name == ENGINES_FILE else table_in(_shipped(name), name)


def _shipped_engines() -> Table:
    """The table of engines: each of them has a file of its own."""
    found = sorted(files(__package__).joinpath(_ENGINES).iterdir(), key=lambda file: file.name)
    names = [file.name.removesuffix(_ROWS) for file in found if file.name.endswith(_ROWS)]
    return {name: table_in(_shipped(f"{_ENGINES}/{name}{_ROWS}"), f"{name}{_ROWS}") for name in names}


def table_in(text: str, where: str) -> Table:
    """The mapping in a YAML text; raises InvalidCatalogue, which begins with `where`."""
    try:
        return mapping(yaml.load(text, Loader=ValuesLoader), where)  # noqa: S506  (a safe loader)
    except yaml.YAMLError as error:
        raise InvalidCatalogue(where, f"is not YAML: {' '.join(str(error).split())}") from error


def _engines(table: Table) -> dict[str, EngineVersions]:
    return {name: _versions(name, row) for name, row in table.items()}


def _versions(engine: str, raw: Any) -> EngineVersions:
    where = f"{ENGINES_FILE}: {engine}"
    row = mapping(raw, where)
    rows = mapping(row.get("versions"), f"{where}: versions")
    recordings = {
        version: _recording(mapping(facts, f"{where}: {version}"), f"{where}: {version}")
        for version, facts in rows.items()
    }
    versions = {version: _version(engine, version, facts, recordings[version]) for version, facts in rows.items()}
    default = row.get("default")
    if not isinstance(default, str) or default not in versions:
        raise InvalidCatalogue(where, f"default must be one of its versions: {', '.join(versions)}")
    return EngineVersions(default=default, versions=versions, recordings=recordings)


def _version(engine: str, version: str, facts: Any, recording: Recording) -> EngineVersion:
    where = f"{ENGINES_FILE}: {engine}: {version}"
    flags = frozenset(recording.options)
    support = _support(facts.get("support", {}), f"{where}: support")
    row = {**facts, "flags": flags, "support": support}
    return checked_version(typed(EngineVersion, row, where, engine=engine, version=version), where)


def _support(raw: Any, where: str) -> dict[str, Support]:
    """Typed cell by cell, so that a misspelled column is refused as one of a row is."""
    return {variant: _cell(cell, f"{where}: {variant}") for variant, cell in mapping(raw, where).items()}


def _cell(raw: Any, where: str) -> Support:
    cell = mapping(raw, where)
    driver = {"driver": typed(Driver, cell["driver"], f"{where}: driver")} if "driver" in cell else {}
    return typed(Support, {**cell, **driver}, where)


def _recording(facts: Any, where: str) -> Recording:
    """What the file of a row records; other paths than those of the package are refused."""
    if "flags" not in facts:
        return Recording()
    name, known = str(facts["flags"]), [f"flags/{file.name}" for file in files(__package__).joinpath("flags").iterdir()]
    if name not in known:
        raise InvalidCatalogue(where, f"flags: there is no file {name}; use one of: {', '.join(sorted(known))}")
    return _shipped_recording(name)


@cache
def _shipped_recording(name: str) -> Recording:
    return recording_in(_shipped(name))


def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
