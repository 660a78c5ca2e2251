"""A verb loads what it needs: each Tab, each `--help` and each hook of a pipeline waits for it."""

import subprocess
import sys

import pytest

_CODE = "import sys; import {module}; print(*sorted(sys.modules))"
HEAVY = {"kubernetes", "kopf", "requests", "prometheus_api_client"}


def loaded(module: str) -> set[str]:
    code = _CODE.format(module=module)
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split())  # noqa: S603


@pytest.mark.parametrize(
    ("verb", "not_needed"),
    [
        ("status", {"pydantic", "llmservice.planning.plan", "llmservice.engines.registry"}),
        ("logs", {"pydantic", "llmservice.planning.plan", "llmservice.engines.registry"}),
        ("events", {"pydantic", "llmservice.planning.plan", "llmservice.engines.registry"}),
        ("cost", {"pydantic", "llmservice.planning.plan", "llmservice.engines.registry", "llmservice.catalog.loader"}),
        ("explain", {"llmservice.planning.plan"}),
        ("render", {"aiohttp"}),
        ("plan", {"aiohttp"}),
        ("validate", {"aiohttp"}),
        ("diff", set()),
        ("doctor", set()),
        ("activate", {"llmservice.planning.plan", "llmservice.engines.registry"}),
    ],
)
def test_a_verb_loads_no_more_than_it_needs(verb: str, not_needed: set[str]) -> None:
    assert loaded(f"llmservice.cli.{verb}").isdisjoint(HEAVY | not_needed)


def test_the_help_loads_no_verb() -> None:
    assert not any(name.startswith("llmservice.cli.") for name in loaded("llmservice.cli"))
