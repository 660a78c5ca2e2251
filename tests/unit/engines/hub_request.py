"""Arrange: what is asked of an engine that serves a model from the hub."""

import dataclasses
from typing import Any

from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.engine import Launch, ModelSource, ServingRequest
from llmservice.engines.parallelism import Parallelism


def a_version(engine: str, version: str | None = None, **changes: Any) -> EngineVersion:
    """A row of the catalogue."""
    return dataclasses.replace(load_catalogue().engine_version(engine, version), **changes)


def a_request(version: EngineVersion, **changes: Any) -> ServingRequest:
    """One device, 8192 tokens, 16 requests at once, five minutes to drain."""
    request = ServingRequest(
        names=("chat",),
        model=ModelSource(scheme="hf", repository="owner/model"),
        version=version,
        devices=1,
        max_model_len=8192,
        max_num_seqs=16,
        drain_seconds=300,
    )
    shared = Parallelism(tensor=changes.get("devices", 1) or 1)
    return dataclasses.replace(request, **{"parallelism": shared, **changes})


def option(launch: Launch, flag: str) -> str | None:
    """The value of `--flag=value`; None when the flag is not there."""
    return next((word.partition("=")[2] for word in launch.args if word.partition("=")[0] == flag), None)
