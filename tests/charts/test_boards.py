"""The boards: every query asks for what is exported or recorded, and every panel says what it shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.charts.promql import metrics, unknown_labels, unknown_metrics
from tests.charts.promtool import complaint_about
from tools.dashboard.boards import BOARD_FILES, BOARDS
from tools.dashboard.engine_rules import FIGURES
from tools.dashboard.panel import RATE
from tools.reference.metrics import families

MODELS = [json.loads(make()) for make in BOARD_FILES.values()]
PANELS = [panel for model in MODELS for panel in model["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
NOT_SHOWN = {
    "llmservice_build_info": "the version stands on the pods",
    "controller_runtime_max_concurrent_reconciles": "a setting",
    "llmservice_devices": "recorded by kind: llmservice:devices:*",
    "workqueue_adds_total": "for dashboards of controller-runtime",
    "workqueue_longest_running_processor_seconds": "for dashboards of controller-runtime",
    "workqueue_retries_total": "for dashboards of controller-runtime",
    "workqueue_unfinished_work_seconds": "for dashboards of controller-runtime",
    "workqueue_work_duration_seconds": "for dashboards of controller-runtime",
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_series_and_labels_that_exist(query: str) -> None:
    assert metrics(query)
    assert (unknown_metrics(query), unknown_labels(query)) == (set(), set())


def test_prometheus_understands_every_query(tmp_path: Path) -> None:
    queries = [query.replace(RATE, "[5m]") for query in QUERIES]
    assert complaint_about(queries, tmp_path) == ""


def test_prometheus_would_notice_a_wrong_query(tmp_path: Path) -> None:
    assert "parse error" in complaint_about(["sum by (a) rate(b)"], tmp_path)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_a_title_a_sentence_and_a_unit(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]


def test_a_panel_of_what_engines_measure_says_which_of_them_do_not() -> None:
    panels = {panel.title: panel for board in BOARDS for row in board.rows.values() for panel in row}
    assert "Not measured by: llamacpp; tgi;" in panels["Time to first token"].description
    assert "vllm 0.10.2" in panels["Time per output token"].description
    assert "Not measured" not in panels["Running requests"].description


def test_every_metric_is_shown_or_left_out_for_a_reason() -> None:
    shown = " ".join(QUERIES)
    unseen = {family.name for family in families() if family.name not in shown}
    assert {name for name in unseen if not name.startswith("process_")} == NOT_SHOWN.keys()


def test_every_figure_of_the_engines_is_shown() -> None:
    shown = {name for query in QUERIES for name in metrics(query)}
    unseen = [figure.record for figure in FIGURES if not any(_is_of(figure.record, name) for name in shown)]
    assert unseen == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["uid"])
def test_panels_stand_beside_each_other_and_not_on_each_other(model: dict[str, Any]) -> None:
    places = [panel["gridPos"] for panel in model["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["uid"])
def test_ids_are_unique_and_a_variable_that_is_used_is_there(model: dict[str, Any]) -> None:
    assert len({panel["id"] for panel in model["panels"]}) == len(model["panels"])
    there = {item["name"] for item in model["templating"]["list"]}
    queries = " ".join(target["expr"] for panel in model["panels"] for target in panel.get("targets", ()))
    assert {name for name in ("namespace", "service") if f"${name}" in queries} == there - {"datasource"}


def _is_of(record: str, name: str) -> bool:
    base, _, operation = record.rpartition(":")
    return name == record or (name.startswith(f"{base}_") and name.endswith(f":{operation}"))
