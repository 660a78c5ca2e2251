"""What a Job hands over by its log: the same records, whatever else the log says."""

import base64
import zlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmservice.bench.records import Record
from llmservice.bench.transfer import Handed, Pieces, packed
from llmservice.errors import InvalidInput
from tests.unit.bench.builders import a_record


def handed_over(lines: Sequence[str]) -> Handed | None:
    pieces = Pieces()
    for line in lines:
        pieces.take(line)
    return pieces.unpacked()


def of(records: Sequence[Record]) -> Handed:
    return Handed(model="chat", interrupted=True, records=records)


def test_records_come_back_as_they_were() -> None:
    records = [a_record(phase=number % 3, at=1000.0 + number, gaps=(0.05, 0.06)) for number in range(50)]
    records += [a_record(error="503 Busy later", at=1051.5, seconds=0.25)]
    back = handed_over([*packed(of(records))])
    assert back is not None
    assert (back.model, back.interrupted, len(back.records)) == ("chat", True, 51)
    for old, new in zip(records, back.records, strict=True):
        assert (new.phase, new.error, new.prompt_tokens) == (old.phase, old.error, old.prompt_tokens)
        assert (new.at, new.seconds, new.first) == pytest.approx((old.at, old.seconds, old.first), abs=1e-5)
        assert new.gaps == pytest.approx(old.gaps, abs=1e-5)


def test_progress_between_the_pieces_and_a_second_reading_do_no_harm() -> None:
    lines = [*packed(of([a_record(at=1000.0 + number**2 / 7) for number in range(3000)]))]
    assert len(lines) > 2
    mixed = ["at once 1 (1/2): 3 of 64 requests, 5 s", *lines[:2], "more", *lines[:1], *lines[1:]]
    back = handed_over(mixed)
    assert back is not None
    assert len(back.records) == 3000


def test_half_a_log_is_no_result() -> None:
    lines = [*packed(of([a_record(at=1000.0 + number**2 / 7) for number in range(3000)]))]
    assert handed_over(lines[:-1]) is None
    assert handed_over([]) is None


def test_very_many_gaps_are_left_out_before_the_log_grows_without_bound() -> None:
    gaps = (0.01,) * 100_000
    back = handed_over([*packed(of([a_record(gaps=gaps) for _ in range(11)]))])
    assert back is not None
    assert {record.gaps for record in back.records} == {()}


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"{}",
        b'{"rows":[[0]],"errors":[],"start":0,"model":"m","interrupted":false}',
        b'{"rows":[[0,5,1,1,1,1,1,1]],"errors":[],"start":0,"model":"m","interrupted":false}',
        b'{"rows":[[0,-1,1,1,1,"x",1,1]],"errors":[],"start":0,"model":"m","interrupted":false}',
        b"no json",
    ],
)
def test_what_is_none_of_ours_is_refused(document: bytes) -> None:
    line = f"llmservice-bench 1/1 {base64.b64encode(zlib.compress(document)).decode()}"
    with pytest.raises(InvalidInput) as refused:
        handed_over([line])
    assert refused.value.reason == "UnreadableResult"


@given(st.text())
def test_no_line_of_a_log_breaks_it(text: str) -> None:
    pieces = Pieces()
    if pieces.take(f"llmservice-bench {text}"):
        try:
            pieces.unpacked()
        except InvalidInput as refused:
            assert refused.reason == "UnreadableResult"  # noqa: PT017


def test_a_servers_words_cannot_steer_the_terminal() -> None:
    back = handed_over([*packed(of([a_record(error="500 \x1b]0;title\x07 bad")]))])
    assert back is not None
    assert back.records[0].error.isprintable()
