"""Figures of records: percentiles, throughput, what was within the objective, and the course of it."""

import pytest

from llmservice.autoscaling.policy import Objective
from llmservice.bench.figures import figures_of, percentile, spread
from tests.unit.bench.builders import a_record

OBJECTIVE = Objective(ttft_seconds=1.0, tpot_seconds=0.06)


def test_percentiles_lie_between_the_nearest_two() -> None:
    assert [percentile([1.0, 2.0, 3.0, 4.0, 5.0], percent) for percent in (0, 50, 90, 100)] == [1.0, 3.0, 4.6, 5.0]


def test_nothing_has_no_spread() -> None:
    assert spread([]) is None


def test_throughput_is_from_the_first_request_to_the_last_token() -> None:
    figures = figures_of("2", 2, 2, [a_record(at=10.0), a_record(at=14.0)], OBJECTIVE)
    assert figures.seconds == 5.0
    assert figures.tokens_per_second == pytest.approx(22 / 5)
    assert figures.requests_per_second == pytest.approx(2 / 5)
    assert figures.tokens_per_second_per_user == pytest.approx(11)


def test_errors_are_counted_by_what_they_say_and_attain_nothing() -> None:
    records = [a_record(), a_record(error="503"), a_record(error="503"), a_record(first=1.5, seconds=2.0)]
    figures = figures_of("4", 4, 4, records, OBJECTIVE)
    assert figures.errors == {"503": 2}
    assert (figures.requests, figures.failed, figures.attained) == (2, 2, 0.25)


def test_fewer_than_planned_are_partial() -> None:
    assert figures_of("4", 4, 4, [a_record()], OBJECTIVE).partial
    assert not figures_of("4", 4, 1, [a_record()], OBJECTIVE).partial


def test_the_course_adds_up_to_the_whole() -> None:
    records = [a_record(at=float(at)) for at in range(90)]
    figures = figures_of("1", 1, 90, records, OBJECTIVE)
    assert sum(moment.requests for moment in figures.moments) == 90
    assert len(figures.moments) <= 41
    assert all(moment.first in (0.5, None) for moment in figures.moments)
