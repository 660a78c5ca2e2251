"""Sandboxes and machines that are fine by default."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox.preflight import Machine
from sandbox.settings import SandboxSpec

READY = Machine(
    system="Linux",
    user_id=0,
    capabilities=2**41 - 1,
    go_version="go1.26.1",
    has=lambda _name: True,
    filters_bridges=True,
)


def a_machine(**changes: Any) -> Machine:
    return replace(READY, **changes)


def a_spec(**changes: Any) -> SandboxSpec:
    return SandboxSpec(**{"name": "default", "cache": Path("/home/me/.cache/llmservice"), **changes})
