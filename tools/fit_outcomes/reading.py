"""Reads tests/outcomes/outcomes.yaml: starts of engines with what came of them, and where that was told."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked

from llmservice.catalog.loader import shipped_models, table_in
from llmservice.catalog.model_rows import KnownModels

FILE = Path(__file__).parents[2] / "tests" / "outcomes" / "outcomes.yaml"


class Result(StrEnum):
    """What came of a start."""

    STARTED = "Started"
    OUT_OF_MEMORY = "OutOfMemory"
    """While weights were loaded or a first step was tried."""
    CACHE_TOO_SMALL = "CacheTooSmall"
    """The engine refused: not one request of the asked length, or not a block of cache, fits."""


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Numbers:
    """Numbers of a start, as options of its engine; None is not told."""

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    batched_tokens: int | None = None
    utilization: float | None = None
    kv_dtype: str | None = None
    eager: bool | None = None
    quantization: str | None = None


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Reported:
    """The engine's own figures of one device: GiB of weights and of KV cache, tokens in it, full-length requests."""

    weights_gib: float | None = None
    kv_gib: float | None = None
    kv_tokens: int | None = None
    requests: float | None = None


@checked(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Start:
    """One start. `told` is what the source says, `assumed` what it leaves to the engine's defaults of that version."""

    id: str
    engine: str
    gpu: str
    model: str
    result: Result
    source: str = Field(pattern="^https://")
    count: int = 1
    version: str = ""
    told: Numbers = Numbers()
    assumed: Numbers = Numbers()
    reported: Reported = Reported()
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether it ended for want of memory."""
        return self.result is not Result.STARTED


@dataclass(frozen=True)
class Starts:
    """All starts of the file, and the models that they are of."""

    starts: tuple[Start, ...]
    models: KnownModels


def starts_in(text: str) -> Starts:
    """The content of a file of starts; raises ValidationError or InvalidCatalogue, which name the field."""
    table: Mapping[str, Any] = table_in(text, FILE.name)
    models = shipped_models().overlaid({"models": table["models"]})
    return Starts(TypeAdapter(tuple[Start, ...]).validate_python(table["starts"]), models)


@cache
def public_starts() -> Starts:
    """Those of tests/outcomes/outcomes.yaml."""
    return starts_in(FILE.read_text("utf-8"))
