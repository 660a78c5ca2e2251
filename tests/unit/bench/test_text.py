"""The report as a table: whole, or as wide as a terminal."""

import pytest

from llmservice.autoscaling.policy import Objective
from llmservice.bench.report import report_of
from llmservice.bench.scenarios import sweep, usual_turn
from llmservice.bench.text import as_text
from tests.unit.bench.builders import a_record

LOAD = sweep((1, 2), requests=2, turn=usual_turn(None, None))
OBJECTIVE = Objective(ttft_seconds=3, tpot_seconds=0.1)


def test_a_narrow_terminal_has_the_columns_that_fit_it() -> None:
    report = report_of("ml/chat", "chat", LOAD, [a_record(phase=number) for number in (0, 0, 1, 1)], OBJECTIVE)
    whole, narrow = (as_text(report, width=width).splitlines()[2:5] for width in (0, 80))
    assert max(map(len, whole)) > 80
    assert max(map(len, narrow)) <= 80
    assert all(head in narrow[0] for head in ("TTFT p50", "ITL p50", "E2E p50", "tok/s", "within", "errors"))
    assert as_text(report, width=500) == as_text(report)


@pytest.mark.parametrize("width", [1, 40])
def test_what_tells_most_stays_however_narrow_it_is(width: int) -> None:
    report = report_of("ml/chat", "chat", LOAD, [a_record(phase=0)], OBJECTIVE)
    assert "TTFT p50" in as_text(report, width=width)


def test_nothing_measured_is_no_empty_table() -> None:
    text = as_text(report_of("ml/chat", "chat", LOAD, [], OBJECTIVE, interrupted=True))
    assert "TTFT" not in text
    assert "0 of 4 requests" in text
