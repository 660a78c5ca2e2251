"""The models of manifests/models: written from their table, and each can run on its devices, by the planner's word."""

from dataclasses import replace
from functools import cache

import pytest
import yaml

from llmservice.cli.answering import answer_files
from llmservice.cli.answers import FileAnswer
from llmservice.cli.findings import Severity
from llmservice.cli.planner_options import planner_from
from llmservice.models.model_facts import Task
from tools.gallery.__main__ import FOLDER
from tools.gallery.choosing import NothingFitsError, choose, entry
from tools.gallery.files import gallery
from tools.gallery.row import Rung, read_table

FILES = sorted(FOLDER.glob("*.yaml"))
TABLE = read_table()


@cache
def answers() -> list[FileAnswer]:
    """What `llmservice validate manifests/models/*.yaml` answers, in one process."""
    return answer_files([str(file) for file in FILES], planner_from(environment={}))


def test_the_files_are_those_that_the_table_makes() -> None:
    assert {file.name: file.read_text("utf-8") for file in FOLDER.iterdir()} == gallery(), "run `make gallery`"


def test_every_model_can_run_and_nothing_is_warned_of() -> None:
    assert len(answers()) == len(FILES)
    found = [finding for answer in answers() for finding in answer.findings()]
    assert [finding for finding in found if finding.severity is not Severity.NOTE] == []
    assert all(answer.answers[0].plan is not None for answer in answers())


def test_there_are_forty_models_of_every_kind_each_on_two_kinds_of_devices() -> None:
    specs = [yaml.safe_load(file.read_text("utf-8"))["spec"] for file in FILES]
    devices: dict[str, set[str]] = {}
    for spec in specs:
        devices.setdefault(spec["model"]["names"][0], set()).add(str(spec["gpu"]))
    assert len(devices) >= 40
    assert {len(kinds) for kinds in devices.values()} == {2}
    assert {answer.answers[0].plan.task for answer in answers() if answer.answers[0].plan} == set(Task)
    assert any(row.sees for row in TABLE.rows)


def test_what_fits_an_h100_fits_an_a100_of_80_gb_as_the_page_says() -> None:
    planner, a100 = planner_from(environment={}), Rung("A100-80GB", 1)
    h100 = [(row, choose(TABLE, row, planner)) for row in TABLE.rows]
    entries = [(row, each, large) for row, pair in h100 for large, each in enumerate(pair) if each.rung.type == "H100"]
    assert len(entries) >= 5
    for row, each, large in entries:
        other = entry(TABLE, row, replace(a100, count=each.rung.count), planner, large=bool(large))
        assert other.holds(each.at_once), row.name


def test_a_model_that_no_step_of_the_ladder_holds_is_named() -> None:
    row = next(row for row in TABLE.rows if row.name == "qwen3-32b")
    small = replace(TABLE, ladder=TABLE.ladder[:2])
    with pytest.raises(NothingFitsError, match=row.name):
        choose(small, row, planner_from(environment={}))
