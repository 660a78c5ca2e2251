"""The alerts: about series that the operator exports, each fires when it should and with a line on what to do."""

import re
from pathlib import Path

import pytest
import yaml

from tests.charts.promql import metrics, unknown_labels, unknown_metrics
from tests.charts.promtool import Moment, firing
from tools.chart.copies import alerts

RULES = {rule["alert"]: rule for group in yaml.safe_load(alerts())["groups"] for rule in group["rules"]}
CHAT = 'namespace="ml", name="chat"'
READY = f'llmservice_condition{{{CHAT}, type="Ready", status="False"}}'
STALLED = f'llmservice_condition{{{CHAT}, type="Stalled", status="True"}}'
UNAVAILABLE = f'llmservice_condition{{{CHAT}, type="Available", status="False"}}'
UNREAD = f'llmservice_condition{{{CHAT}, type="MetricsAvailable", status="False"}}'
AGE = f"llmservice_autoscale_reading_age_seconds{{{CHAT}}}"
WAITING = f"llmservice_requests_waiting{{{CHAT}}}"
ERRORS = 'controller_runtime_reconcile_errors_total{controller="llmservice"}'
PASSES = 'controller_runtime_reconcile_total{controller="llmservice", result="success"}'
CUT = f"llmservice_requests_truncated_total{{{CHAT}}}"
FAILING = f"llmservice_download_failing{{{CHAT}}}"
HANGS = f"llmservice_engine_stalls_total{{{CHAT}}}"
OF_FIRST_TOKENS = f'{CHAT}, objective="ttft"'
HELD = f"llmservice_objective_requests_total{{{OF_FIRST_TOKENS}}}"
LATE = f"llmservice_objective_violations_total{{{OF_FIRST_TOKENS}}}"
ASLEEP = f"llmservice_asleep{{{CHAT}}}"
ACTIVATORS = "llmservice_activators_ready"
REFUSED = f"llmservice_held_refused_total{{{CHAT}}}"
PANICS = 'controller_runtime_reconcile_panics_total{controller="llmservice"}'


def replicas(kind: str) -> str:
    return f'llmservice_replicas{{{CHAT}, kind="{kind}"}}'


def heard(instance: str) -> str:
    return f'llmservice_watch_last_event_timestamp_seconds{{resource="Pod", instance="{instance}"}}'


def leads(instance: str) -> str:
    return f'leader_election_master_status{{name="llmservice-operator", instance="{instance}"}}'


def looks(reason: str) -> str:
    return f'llmservice_autoscale_decisions_total{{{CHAT}, reason="{reason}"}}'


LEADER = {leads("a"): "1x60"}
FIRES = {
    "LLMServiceOperatorWithoutLeader": [
        Moment({}, 3),
        Moment({leads("a"): "0x60"}, 3),
    ],
    "LLMServiceWatchSilent": [Moment(LEADER | {heard("a"): "0x60", heard("b"): "30x60"}, 12)],
    "LLMServiceReconcileErrors": [Moment(LEADER | {ERRORS: "0+12x60", PASSES: "0+100x60"}, 20)],
    "LLMServiceOperatorDefect": [Moment(LEADER | {PANICS: "0 0 1x60"}, 5)],
    "LLMServiceCatalogueBroken": [Moment(LEADER | {"llmservice_catalogue_problem": "1x60"}, 11)],
    "LLMServiceStalled": [Moment(LEADER | {STALLED: "1x60"}, 6)],
    "LLMServiceUnavailable": [Moment(LEADER | {UNAVAILABLE: "1x60", replicas("desired"): "2x60"}, 16)],
    "LLMServiceUnready": [Moment(LEADER | {READY: "1x60"}, 16)],
    "LLMServiceReadingsStale": [
        Moment(LEADER | {AGE: "0+60x60"}, 12),
        Moment(LEADER | {UNREAD: "1x60", replicas("ready"): "2x60"}, 6),
    ],
    "LLMServiceAtMaximum": [
        Moment(LEADER | {looks("AtMaximum"): "0+4x60", looks("Steady"): "3x60", WAITING: "2x60"}, 20)
    ],
    "LLMServiceDownloadFailing": [
        Moment(LEADER | {FAILING: "1x60"}, 11),
        Moment(LEADER | {FAILING: "1 1 0 1 1 0 1 1 0 1x60"}, 20),
    ],
    "LLMServiceEngineStalled": [Moment(LEADER | {HANGS: "0x3 1x60"}, 8)],
    "LLMServiceRequestsTruncated": [Moment(LEADER | {CUT: "0x3 3x60"}, 8)],
    "LLMServiceActivatorsDown": [Moment(LEADER | {ASLEEP: "1x60", ACTIVATORS: "2x5 0x60"}, 9)],
    "LLMServiceRequestsRefused": [Moment(LEADER | {REFUSED: "0x3 3x60"}, 8)],
    "LLMServiceObjectiveBurnsFast": [
        Moment(LEADER | {HELD: "0+60x70", LATE: "0+50x70"}, 60),
        Moment({leads("a"): "1x400", HELD: "0+60x400", LATE: "0+30x400"}, 350),
    ],
    "LLMServiceObjectiveBurnsSlowly": [
        Moment({leads("a"): "1x2000", HELD: "0+60x2000", LATE: "0+12x2000"}, 1500),
    ],
}
"""Each alert, and moments at which it and no other fires."""

SILENT = {
    "a leader and nothing wrong": Moment(LEADER, 30),
    "the standby replica is no missing leader": Moment(LEADER | {leads("b"): "0x60"}, 30),
    "a leader that comes back within two minutes": Moment({leads("a"): "1x5 0 0 1x30"}, 8),
    "one of two replicas is deaf": Moment(LEADER | {heard("a"): "0x60", heard("b"): "0+60x60"}, 30),
    "one pass of twenty fails": Moment(LEADER | {ERRORS: "0+5x60", PASSES: "0+100x60"}, 30),
    "a burst of errors that is over": Moment(LEADER | {ERRORS: "0+50x5 250x30", PASSES: "0+100x60"}, 30),
    "a defect of an hour ago": Moment(LEADER | {PANICS: "0 1x60"}, 59),
    "a catalogue that is mended within ten minutes": Moment(LEADER | {"llmservice_catalogue_problem": "1x8 0x30"}, 20),
    "stalled, and mended at once": Moment(LEADER | {STALLED: "1x3 stale"}, 8),
    "no endpoint, because none is wanted": Moment(LEADER | {UNAVAILABLE: "1x60", replicas("desired"): "0x60"}, 30),
    "a model that loads for ten minutes": Moment(
        LEADER | {UNAVAILABLE: "1x10 stale", READY: "1x10 stale", replicas("desired"): "1x60"}, 25
    ),
    "readings missing while no replica is ready": Moment(LEADER | {UNREAD: "1x60", replicas("ready"): "0x60"}, 30),
    "readings of a slow scrape": Moment(LEADER | {AGE: "30x60"}, 30),
    "a download that failed once": Moment(LEADER | {FAILING: "0x5 1x4 0x60"}, 20),
    "an engine that hung an hour ago": Moment(LEADER | {HANGS: "0 1x90"}, 60),
    "requests that were cut an hour ago": Moment(LEADER | {CUT: "0 3x90"}, 60),
    "asleep, and an activator left": Moment(LEADER | {ASLEEP: "1x60", ACTIVATORS: "1x60"}, 30),
    "no activator is ready, and nothing sleeps": Moment(LEADER | {ASLEEP: "0x60", ACTIVATORS: "0x60"}, 30),
    "activators that are replaced within two minutes": Moment(LEADER | {ASLEEP: "1x60", ACTIVATORS: "2x3 0 0 2x60"}, 6),
    "asleep where activators are no more installed": Moment(LEADER | {ASLEEP: "1x60"}, 30),
    "requests refused an hour ago": Moment(LEADER | {REFUSED: "0 3x90"}, 60),
    "at the maximum, but nobody waits": Moment(LEADER | {looks("AtMaximum"): "0+4x60", WAITING: "0x60"}, 30),
    "a request of fifty is late": Moment(LEADER | {HELD: "0+50x90", LATE: "0+1x90"}, 60),
    "three requests in an hour, all of them late": Moment(LEADER | {HELD: "0x30 1 2 3x60", LATE: "0x30 1 2 3x60"}, 50),
    "latency that was bad half an hour ago": Moment(
        {leads("a"): "1x400", HELD: "0+60x400", LATE: "0+60x30 1800x400"}, 70
    ),
    "at the maximum now and then": Moment(
        LEADER | {looks("AtMaximum"): "0+2x60", looks("Steady"): "0+2x60", WAITING: "2x60"}, 30
    ),
}
"""Moments at which nothing fires."""


@pytest.mark.parametrize(
    ("alert", "moment"), [(alert, moment) for alert, moments in FIRES.items() for moment in moments]
)
def test_it_fires_and_no_other_does(alert: str, moment: Moment, tmp_path: Path) -> None:
    assert firing(moment, tmp_path) == [alert]


@pytest.mark.parametrize("moment", SILENT.values(), ids=SILENT)
def test_nothing_fires(moment: Moment, tmp_path: Path) -> None:
    assert firing(moment, tmp_path) == []


def test_a_service_that_is_stalled_without_an_endpoint_is_told_of_once_for_each(tmp_path: Path) -> None:
    trouble = {STALLED: "1x60", UNAVAILABLE: "1x60", READY: "1x60", replicas("desired"): "1x60"}
    assert firing(Moment(LEADER | trouble, 30), tmp_path) == ["LLMServiceStalled", "LLMServiceUnavailable"]


def test_every_alert_is_shown_to_fire() -> None:
    assert FIRES.keys() == RULES.keys()


@pytest.mark.parametrize("alert", RULES)
def test_it_asks_for_series_and_labels_that_exist(alert: str) -> None:
    expression = RULES[alert]["expr"]
    assert metrics(expression)
    assert (unknown_metrics(expression), unknown_labels(expression)) == (set(), set())


@pytest.mark.parametrize("alert", RULES)
def test_it_says_what_is_wrong_and_what_to_do(alert: str) -> None:
    rule = RULES[alert]
    assert rule["annotations"].keys() == {"summary", "runbook", "runbook_url"}
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert (page.endswith("/docs/reference/alerts.md"), anchor) == (True, alert.casefold())
    assert rule["labels"]["severity"] in {"warning", "critical"}


@pytest.mark.parametrize("alert", RULES)
def test_a_label_in_its_summary_is_one_that_its_expression_keeps(alert: str) -> None:
    rule = RULES[alert]
    recorded = {label for name in metrics(rule["expr"]) if ":" in name for label in ("namespace", "name", "objective")}
    kept = recorded | {name for names in re.findall(r"by \(([\w, ]*)\)", rule["expr"]) for name in names.split(", ")}
    assert set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))) <= kept
