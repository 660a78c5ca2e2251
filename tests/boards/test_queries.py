"""Every panel and every rule, answered by a real Prometheus that scrapes every engine version and the operator."""

import math
from collections.abc import Iterator

import pytest

from llmservice.converging.pod_readings import Reading
from llmservice.signals.samples import reading_from
from tests.boards.conftest import Asked
from tests.boards.operator_page import NAMESPACE
from tests.boards.pages import Played, played
from tools.dashboard.boards import BOARDS
from tools.dashboard.engine_rules import FIGURES, Figure, part_of
from tools.dashboard.panel import Panel

PANELS = [(f"{board.uid}: {panel.title}", panel) for board in BOARDS for row in board.rows.values() for panel in row]
ENGINES = {each.service: each for each in played()}


def records(figure: Figure) -> Iterator[str]:
    if figure.kind == "histogram":
        yield from (part_of(figure.record, part) for part in figure.parts)
    else:
        yield figure.record


@pytest.mark.parametrize("panel", [panel for _, panel in PANELS], ids=[name for name, _ in PANELS])
def test_every_query_of_a_panel_has_data(prometheus: Asked, panel: Panel) -> None:
    assert [query.expr for query in panel.queries if not prometheus.ask(query.expr)] == []


def test_every_rule_is_evaluated_without_a_complaint(prometheus: Asked) -> None:
    assert {rule["name"]: rule.get("lastError") for rule in prometheus.rules() if rule["health"] != "ok"} == {}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_a_figure_is_recorded_where_the_engine_measures_it_and_nowhere_else(prometheus: Asked, engine: Played) -> None:
    recorded = {
        figure.role
        for figure in FIGURES
        for record in records(figure)
        if prometheus.ask(f'{record}{{namespace="{NAMESPACE}", name="{engine.service}"}}')
    }
    assert recorded == {figure.role for figure in FIGURES if engine.names.names(figure.role)}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_the_boards_show_what_the_autoscaler_reads(prometheus: Asked, engine: Played) -> None:
    reading = reading_from(engine.samples, engine.names, at=0.0)
    assert isinstance(reading, Reading), reading
    of_service = f'{{namespace="{NAMESPACE}", name="{engine.service}"}}'
    assert prometheus.value(f"llmservice:requests_running{of_service}") == reading.counters.running
    assert prometheus.value(f"llmservice:requests_waiting{of_service}") == reading.counters.waiting
    assert prometheus.value(f"llmservice:kv_cache_usage{of_service}") == pytest.approx(reading.kv_use)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_latencies_are_numbers(prometheus: Asked, engine: Played) -> None:
    of_service = f'{{namespace="{NAMESPACE}", name="{engine.service}"}}'
    for role, name in (("ttft", "llmservice:ttft_seconds"), ("tpot", "llmservice:tpot_seconds")):
        median = prometheus.value(f"histogram_quantile(0.5, sum by (le) ({name}_bucket:rate5m{of_service}))")
        assert (median is not None) == bool(engine.names.names(role))
        assert median is None or (math.isfinite(median) and median > 0)


def test_devices_are_held_idle_and_waited_for(prometheus: Asked) -> None:
    assert prometheus.value('llmservice:devices:held{name="chat"}') == 2
    assert prometheus.value('llmservice:devices:idle{name="quiet"}') == 2
    assert prometheus.value('llmservice:devices:idle{name="vllm-0-32-0"}') is None
    assert prometheus.value('llmservice:devices:waiting{name="waits"}') == 8
    assert prometheus.value('llmservice:devices:held{name="waits"}') == 0


def test_a_price_is_that_of_the_type(prometheus: Asked) -> None:
    (cost,) = (panel for name, panel in PANELS if name == "llmservice-fleet: Cost per hour by type")
    held = prometheus.value("sum(llmservice:devices:held)")
    assert held is not None
    assert prometheus.value(cost.queries[0].expr) == pytest.approx(0.8 * held)


def test_the_alert_on_the_objective_has_its_burn_rate(prometheus: Asked) -> None:
    burning = prometheus.value('llmservice:objective:burnrate1h{name="chat", objective="ttft"}')
    assert burning == pytest.approx(0.04 / 0.05)


def test_a_pod_cannot_say_what_only_the_operator_may(prometheus: Asked) -> None:
    assert prometheus.ask('{__name__=~"llmservice.*", pod="quiet-0", engine=""}') == []
