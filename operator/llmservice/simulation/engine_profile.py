"""How long one iteration of a simulated engine takes, from measured tables."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from llmservice.autoscaling.policy import Roofline
from llmservice.errors import UsageError

MAX_BATCHED_TOKENS = 2048
MAX_SEQUENCES = 256
"""vLLM's defaults for chunked prefill on data-centre GPUs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProfile:
    """One model on one set of devices.

    `step_seconds[n]` is an iteration over n tokens without attention. `kv_read_seconds` are added per token of KV cache
    that a decode step reads, `attention_seconds` per prompt token and token of context before it.
    `roofline` is None where the device is not known.
    """

    name: str
    description: str
    devices: int
    step_seconds: tuple[float, ...]
    kv_read_seconds: float
    attention_seconds: float
    kv_cache_tokens: int
    roofline: Roofline | None
    max_sequences: int = MAX_SEQUENCES

    @property
    def max_batched_tokens(self) -> int:
        """Tokens one iteration may work on."""
        return len(self.step_seconds) - 1


@cache
def engine_profiles() -> dict[str, EngineProfile]:
    """Every engine table that comes with the package, by name."""
    text = (files("llmservice.simulation") / "engine_profiles.yaml").read_text(encoding="utf-8")
    return {name: _profile(name, row) for name, row in yaml.safe_load(text).items()}


def engine_profile(name: str) -> EngineProfile:
    """The engine table of this name. Raises UsageError."""
    profiles = engine_profiles()
    if name not in profiles:
        raise UsageError("UnknownEngineTable", f"no engine table {name!r}: choose one of {', '.join(profiles)}")
    return profiles[name]


def _profile(name: str, row: dict[str, Any]) -> EngineProfile:
    return EngineProfile(
        name=name,
        description=row["description"],
        devices=row["devices"],
        step_seconds=_step_seconds(row),
        kv_read_seconds=row["kv_read_nanoseconds_per_token"] * 1e-9,
        attention_seconds=row["attention_picoseconds_per_token_of_context"] * 1e-12,
        kv_cache_tokens=row["kv_cache_tokens"],
        roofline=Roofline(
            parameters=row["parameters"],
            weight_bytes=row["weight_bytes"],
            operations_per_second=row["operations_per_second"],
            bytes_per_second=row["bytes_per_second"],
        ),
    )


def _step_seconds(row: dict[str, Any]) -> tuple[float, ...]:
    """Linear layers between the measured points, all-reduce and processor time, for 0 to MAX_BATCHED_TOKENS + 1."""
    sizes, times = [0, *row["tokens"]], [row["linear_milliseconds"][0], *row["linear_milliseconds"]]
    fixed, per_token = row["all_reduce_milliseconds"]
    fixed += row["processor_milliseconds"]
    return tuple(
        (_between(tokens, sizes, times) + fixed + per_token * tokens) / 1e3 for tokens in range(MAX_BATCHED_TOKENS + 1)
    )


def _between(at: int, sizes: list[int], times: list[float]) -> float:
    """Linear interpolation at a point within the table."""
    right = next(index for index, size in enumerate(sizes) if size >= at)
    if right == 0:
        return times[0]
    share = (at - sizes[right - 1]) / (sizes[right] - sizes[right - 1])
    return times[right - 1] + share * (times[right] - times[right - 1])
