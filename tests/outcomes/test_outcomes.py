"""Starts that people reported in public: none that ran is refused, and what is let pass wrongly is counted."""

from dataclasses import replace
from statistics import median

import pytest
from pydantic import ValidationError

from llmservice.catalog.loader import shipped_models
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.verdict import Outcome
from tools.fit_outcomes.judging import Judged, judged
from tools.fit_outcomes.page import fit_outcomes_page
from tools.fit_outcomes.reading import Result, Starts, public_starts, starts_in

PUBLIC = public_starts()
EVERY = {start.id: judged(start, PUBLIC) for start in PUBLIC.starts}
STARTED = [each for each in EVERY.values() if not each.start.failed]
FAILED = [each for each in EVERY.values() if each.start.failed]
FALSELY_ACCEPTED = 12


def name(each: Judged) -> str:
    return each.start.id


@pytest.mark.parametrize("each", STARTED, ids=name)
def test_what_started_is_not_refused(each: Judged) -> None:
    """Nor unknown: the facts of every model here are known."""
    assert each.verdict.outcome in (Outcome.FITS, Outcome.TIGHT), each.verdict.message


def test_as_many_failures_are_let_pass_as_are_known() -> None:
    """Fewer: lower the number. More: an estimate that was changed lets pass what it refused or warned of."""
    assert sum(each.falsely_accepted for each in FAILED) == FALSELY_ACCEPTED


@pytest.mark.parametrize("each", [each for each in FAILED if each.falsely_accepted], ids=name)
def test_what_is_let_pass_wrongly_says_why(each: Judged) -> None:
    assert each.start.note


def test_there_are_enough_of_each_kind() -> None:
    assert len(EVERY) == len(PUBLIC.starts) >= 60
    assert len(FAILED) >= 20
    assert len(STARTED) >= 30
    engines = {"vllm", "tgi", "llamacpp"}
    assert {each.start.engine for each in FAILED} == {each.start.engine for each in STARTED} == engines
    assert {each.start.count for each in STARTED} == {1, 2, 4, 8}


def test_every_model_of_the_file_is_that_of_a_start() -> None:
    added = set(PUBLIC.models.names) - set(shipped_models().names)
    bases = {"zai-org/GLM-4.6"}
    assert added - bases <= {start.model for start in PUBLIC.starts}


@pytest.mark.parametrize("each", [each for each in EVERY.values() if each.start.reported.weights_gib], ids=name)
def test_weights_are_those_of_the_log(each: Judged) -> None:
    """But of gpt-oss, which vLLM pads by 7 to 9 %."""
    assert each.verdict.room is not None
    assert each.start.reported.weights_gib is not None
    padding = 1.08 if "gpt-oss" in each.start.model else 1.0
    assert each.verdict.room.weights * padding / GIB == pytest.approx(each.start.reported.weights_gib, rel=0.02)


def test_half_of_the_caches_are_within_a_gib_and_a_half() -> None:
    """Of one device, by the careful estimate: versions of three years, most older than the estimate's constants."""
    errors = [
        abs(each.predicted_gib[0] - each.reported_gib)
        for each in EVERY.values()
        if each.predicted_gib is not None and each.reported_gib is not None
    ]
    assert len(errors) >= 20
    assert median(errors) < 1.5


def test_what_ran_and_is_refused_is_a_false_refusal() -> None:
    """And no false acceptance, on the page too."""
    start = replace(EVERY["h100-deepseek-r1"].start, result=Result.STARTED)
    changed = judged(start, PUBLIC)
    assert (changed.falsely_refused, changed.falsely_accepted) == (True, False)
    assert "1 starts, 0 of which failed" in fit_outcomes_page(Starts((start,), PUBLIC.models))


def test_a_model_without_facts_is_named() -> None:
    with pytest.raises(KeyError, match="nobody/nothing"):
        judged(replace(EVERY["h100-deepseek-r1"].start, model="nobody/nothing"), PUBLIC)


def test_a_source_is_an_address_and_fields_are_known() -> None:
    row = "models: []\nstarts: [{id: a, engine: vllm, gpu: L4, model: m, result: Started, source: %s}]"
    assert starts_in(row % '"https://example.org/1"').starts[0].source == "https://example.org/1"
    with pytest.raises(ValidationError):
        starts_in(row % "somewhere")
    with pytest.raises(ValidationError):
        starts_in(row % '"https://example.org/1", told: {max_len: 1}')


def test_rows_of_the_file_do_not_change_what_is_shipped() -> None:
    shipped: ModelFacts | None = shipped_models().facts("Qwen/Qwen3-32B")
    assert PUBLIC.models.facts("Qwen/Qwen3-32B") == shipped
