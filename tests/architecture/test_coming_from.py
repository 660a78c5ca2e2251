"""Scenes from where users come: each is planned, begins with what it was, and says what changed."""

from pathlib import Path

import pytest
import yaml

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.plan import plan_service

FOLDER = Path(__file__).parents[2] / "manifests/examples/coming-from"
SCENES = sorted(FOLDER.glob("*.yaml"))
SERVED = [scene for scene in SCENES if yaml.safe_load(scene.read_text())["spec"]["engine"] in ENGINES]


def head(scene: Path) -> list[str]:
    """The comment before the resource."""
    return scene.read_text().partition("apiVersion:")[0].splitlines()


def test_there_is_a_scene_for_each_place_that_users_come_from() -> None:
    assert len(SCENES) >= 9
    assert len({yaml.safe_load(scene.read_text())["spec"]["engine"] for scene in SCENES}) >= 5


@pytest.mark.parametrize("scene", SERVED, ids=lambda scene: scene.stem)
def test_a_scene_runs_on_its_device(scene: Path) -> None:
    body = yaml.safe_load(scene.read_text())
    body["metadata"] = {"namespace": "default", "uid": "u-1", "generation": 1, **body["metadata"]}
    service = LLMService.parse(body)
    plan = plan_service(service, choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=None))
    assert plan.fit is None or plan.fit.outcome in {Outcome.FITS, Outcome.UNKNOWN}, plan.fit
    assert plan.devices == 1


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.stem)
def test_a_scene_begins_with_what_it_was_and_says_what_changed(scene: Path) -> None:
    lines = head(scene)
    assert all(line.startswith("#") for line in lines)
    assert len([line for line in lines if line.startswith("# Changed: ")]) == 1
    assert len(lines) >= 3


def test_the_table_names_each_scene_once() -> None:
    rows = [line for line in (FOLDER / "README.md").read_text().splitlines() if line.startswith("| [")]
    assert sorted(row.partition("](")[2].partition(")")[0] for row in rows) == [scene.name for scene in SCENES]
