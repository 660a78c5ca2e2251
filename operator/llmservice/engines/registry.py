"""Every engine of the operator, by the name in `spec.engine`."""

from collections.abc import Mapping
from difflib import get_close_matches

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Engine
from llmservice.engines.llamacpp.engine import LLAMACPP
from llmservice.engines.tgi.engine import TGI
from llmservice.engines.vllm.engine import VLLM
from llmservice.errors import InvalidSpec

ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in (LLAMACPP, TGI, VLLM)}
"""A new engine is one folder in this package, its name in this line, and its rows in engines.yaml."""

USUAL = VLLM.name
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
