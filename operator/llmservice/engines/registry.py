"""Every engine of the operator, by the name in `spec.engine`."""

import pkgutil
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec


def _found() -> Iterator[Engine]:
    """The constant ENGINE of each folder's `engine.py`."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            yield import_module(f"{__package__}.{module.name}.engine").ENGINE


ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in _found()}
"""A new engine is one folder in this package, and its file of rows in the catalogue."""

USUAL = next(engine.name for engine in ENGINES.values() if engine.capabilities.usual)
"""The engine that commands mean when none is named."""

_MISSPELLED = 0.75
"""Names that are less alike are others': trtllm is no misspelled vllm."""


def engine_named(name: str) -> Engine:
    """The engine of a name; raises InvalidSpec (UnknownEngine)."""
    engine = ENGINES.get(name)
    if engine is None:
        near = get_close_matches(name.casefold(), ENGINES, n=1, cutoff=_MISSPELLED)
        hint = f"did you mean {near[0]}?" if near else f"use one of: {', '.join(ENGINES)}"
        raise InvalidSpec(Reason.UNKNOWN_ENGINE, f"{name} is not a known engine; {hint}", field="spec.engine")
    return engine
