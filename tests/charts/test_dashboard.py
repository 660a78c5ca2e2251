"""The dashboard: every query asks for what is exported, and every panel says what it shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.charts.promql import metrics, unknown_labels, unknown_metrics
from tests.charts.promtool import complaint_about
from tools.dashboard.grafana import dashboard
from tools.dashboard.panel import RATE
from tools.reference.metrics import families

MODEL = json.loads(dashboard())
PANELS = [panel for panel in MODEL["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
NOT_SHOWN = {
    "llmservice_build_info": "the version stands on the pods",
    "controller_runtime_reconcile_errors_total": "an alert asks for it; passes are shown by result",
    "controller_runtime_reconcile_panics_total": "an alert asks for it",
    "controller_runtime_max_concurrent_reconciles": "a setting",
    "llmservice_download_failing": "an alert asks for it",
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
    assert complaint_about([query.replace(RATE, "[5m]") for query in QUERIES], tmp_path) == ""


def test_prometheus_would_notice_a_wrong_query(tmp_path: Path) -> None:
    assert "parse error" in complaint_about(["sum by (a) rate(b)"], tmp_path)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_a_title_a_sentence_and_a_unit(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]


def test_every_metric_is_shown_or_left_out_for_a_reason() -> None:
    shown = " ".join(QUERIES)
    unseen = {family.name for family in families() if family.name not in shown}
    assert {name for name in unseen if not name.startswith("process_")} == NOT_SHOWN.keys()


def test_panels_stand_beside_each_other_and_not_on_each_other() -> None:
    places = [panel["gridPos"] for panel in MODEL["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_ids_and_variables_are_unique_and_known() -> None:
    assert len({panel["id"] for panel in MODEL["panels"]}) == len(MODEL["panels"])
    assert [item["name"] for item in MODEL["templating"]["list"]] == ["datasource", "namespace", "service"]
