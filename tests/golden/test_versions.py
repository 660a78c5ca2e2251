"""What an earlier operator rendered stays as it is: the facts that it kept render to the same Deployment today."""

import json
from pathlib import Path
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.rendering.deployment import deployment

VERSIONS = Path(__file__).parent / "versions"
"""A file for each earlier render version: by case, the resource, the facts that were kept, the Deployment's spec."""
KEPT_VERSIONS = 3

KEPT = [
    pytest.param(case, id=f"{path.stem}-{name}")
    for path in sorted(VERSIONS.glob("*.json"))
    for name, case in json.loads(path.read_text("utf-8")).items()
]


@pytest.mark.parametrize("case", KEPT)
def test_facts_of_an_earlier_version_render_to_the_same_pods(case: dict[str, Any]) -> None:
    body = case["service"]
    metadata = {"namespace": "default", **body["metadata"], "uid": "uid", "generation": 1}
    status = {"plan": {"generation": 1, "facts": case["facts"]}}
    service = LLMService.parse({**body, "metadata": metadata, "status": status})
    plan = CataloguePlanner(load_catalogue())(service)
    assert json.loads(json.dumps(deployment(plan, None)["spec"])) == case["deployment"]


def test_every_earlier_version_that_may_run_is_kept() -> None:
    earlier = range(max(1, RENDER_VERSION - KEPT_VERSIONS), RENDER_VERSION)
    assert sorted(int(path.stem) for path in VERSIONS.glob("*.json")) == list(earlier)
