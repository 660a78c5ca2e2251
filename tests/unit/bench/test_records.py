"""What the generator writes of each request; the lines are AIPerf's, 0.13.0."""

import pytest

from llmservice.bench.records import NO_TEXT, records_of
from tests.unit.bench.builders import a_line


def test_a_request_is_read_in_seconds() -> None:
    (record,), unread = records_of([a_line()])
    assert unread == 0
    assert (record.phase, record.conversation, record.turn) == (2, "2-7", 1)
    assert (record.first, record.seconds, record.prompt_tokens, record.answer_tokens) == (0.5, 1.0, 100, 11)
    assert record.per_token == pytest.approx(0.05)
    assert record.late == pytest.approx(0.01)
    assert len(record.gaps) == 10


def test_an_error_is_told_in_one_line() -> None:
    (record,), _ = records_of([a_line({"code": 503, "type": "Service\nUnavailable", "message": "over" * 200})])
    assert record.error.startswith("503 Service Unavailable over")
    assert len(record.error) <= 200


def test_a_servers_words_cannot_steer_the_terminal() -> None:
    (record,), _ = records_of([a_line({"code": 500, "type": "\x1b]0;title\x07", "message": "\u202ebad"})])
    assert record.error.isprintable()


@pytest.mark.parametrize("missing", ["output_sequence_length", "time_to_first_token"])
def test_an_answer_without_a_token_is_an_error(missing: str) -> None:
    (record,), _ = records_of([a_line(**{missing: None})])
    assert record.error == NO_TEXT


def test_an_answer_of_special_tokens_alone_is_told_in_plain_words() -> None:
    message = (
        "Invalid inference result: No responses with actual content were received from the server (only usage/metadata,"
        " null/empty data, or [DONE] markers)"
    )
    (record,), _ = records_of([a_line({"type": "InvalidInferenceResultError", "message": message})])
    assert record.error == NO_TEXT


@pytest.mark.parametrize(
    "line", ["", "no JSON", "[]", "null", '{"metadata": 1}', a_line(request_latency="NaN"), "[" * 100_000]
)
def test_a_line_that_says_nothing_is_counted_and_passed_over(line: str) -> None:
    records, unread = records_of([line, a_line()])
    assert (len(records), unread) == (1, 1)


def test_a_number_that_is_none_is_no_figure() -> None:
    assert records_of([a_line(time_to_first_token=float("nan"))]) == ([], 1)
