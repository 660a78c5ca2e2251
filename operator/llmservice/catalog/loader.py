"""The one loader: catalogue files in, typed and frozen rows out."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from llmservice.catalog.accelerator_rows import accelerators_from
from llmservice.catalog.catalogue import Catalogue, EngineVersions
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.recorded_flags import recorded_options
from llmservice.catalog.rows import InvalidCatalogue, mapping, typed

_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def load_catalogue() -> Catalogue:
    """The catalogue this version of the operator was shipped with."""
    return catalogue_from(engines=_shipped("engines.yaml"), accelerators=_shipped("accelerators.yaml"))


def catalogue_from(*, engines: str, accelerators: str) -> Catalogue:
    """A catalogue from the texts of its two files; raises InvalidCatalogue naming the row."""
    return Catalogue(
        engines=_engines(_parsed(engines, "engines.yaml")),
        **accelerators_from(_parsed(accelerators, "accelerators.yaml")),
    )


def _engines(raw: Any) -> dict[str, EngineVersions]:
    return {name: _versions(name, row) for name, row in mapping(raw, "engines.yaml").items()}


def _versions(engine: str, raw: Any) -> EngineVersions:
    where = f"engines.yaml: {engine}"
    row = mapping(raw, where)
    versions = {
        version: _version(engine, version, mapping(facts, f"{where}: {version}"))
        for version, facts in mapping(row.get("versions"), f"{where}: versions").items()
    }
    if row.get("default") not in versions:
        raise InvalidCatalogue(where, f"default must be one of its versions: {', '.join(versions)}")
    return EngineVersions(default=row["default"], versions=versions)


def _version(engine: str, version: str, facts: Any) -> EngineVersion:
    where = f"engines.yaml: {engine}: {version}"
    flags = _recorded_flags(facts["flags"], where) if "flags" in facts else frozenset()
    return typed(EngineVersion, {**facts, "flags": flags}, where, engine=engine, version=version)


def _recorded_flags(name: str, where: str) -> frozenset[str]:
    try:
        options = recorded_options(_shipped(name))
        return frozenset(spelling for option in options for spelling in option.spellings)
    except OSError as error:
        raise InvalidCatalogue(where, f"flags: there is no file {name}") from error


def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _parsed(text: str, where: str) -> Any:
    try:
        return yaml.load(text, Loader=_YAML)  # noqa: S506  (a safe loader, the C one where there is one)
    except yaml.YAMLError as error:
        raise InvalidCatalogue(where, f"is not YAML: {error}") from error
