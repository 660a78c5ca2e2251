"""Traces: the two formats, multiplying, warming up, making loads."""

from pathlib import Path

import pytest

from llmservice.errors import InvalidInput
from llmservice.simulation.request import Arrival
from llmservice.simulation.traces import multiplied, piecewise, read_trace, staged, warmed_up

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9305900,396,109
"""


def a_file(folder: Path, text: str) -> Path:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_the_azure_format(tmp_path: Path) -> None:
    assert read_trace(a_file(tmp_path, AZURE)) == [Arrival(0.0, 374, 44), Arrival(4.25, 396, 109)]


def test_reads_seconds_and_sorts_them(tmp_path: Path) -> None:
    text = "arrival_seconds,prompt_tokens,output_tokens\n12.5,10,0\n10,0,7\n"
    assert read_trace(a_file(tmp_path, text)) == [Arrival(0.0, 1, 7), Arrival(2.5, 10, 1)]


def test_reads_timestamps_of_every_length_and_offset(tmp_path: Path) -> None:
    times = ("2024-05-10 00:00:00+00:00", "2024-05-10 00:00:00.5+00:00", "2024-05-10T02:00:00.7500000+02:00")
    text = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(f"{time},1,1\n" for time in times)
    assert [arrival.at for arrival in read_trace(a_file(tmp_path, text))] == [0.0, 0.5, 0.75]


def test_reads_the_csv_that_excel_saves_as_utf_8(tmp_path: Path) -> None:
    text = "\ufeffarrival_seconds,prompt_tokens,output_tokens\n3,4,5\n"
    assert read_trace(a_file(tmp_path, text)) == [Arrival(0.0, 4, 5)]


def test_asks_for_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes("arrival_seconds,prompt_tokens,output_tokens,café\n1,2,3,4\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"trace\.csv: is not UTF-8: save it as CSV in UTF-8"):
        read_trace(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'arrival_seconds,prompt_tokens,output_tokens\n"{"1,2,3 " * 30_000}', "is not CSV: .*a quote without its end"),
        ("", "the first line must name the columns"),
        ("a,b,c\n1,2,3\n", "the first line must name the columns"),
        ("arrival_seconds,prompt_tokens,output_tokens\n", "no request in it"),
        ("arrival_seconds,prompt_tokens,output_tokens\n1,2,many\n", r"trace\.csv:2: .*whole numbers"),
        ("arrival_seconds,prompt_tokens,output_tokens\n1,2\n", r"trace\.csv:2: "),
        ("arrival_seconds,prompt_tokens,output_tokens\nnan,2,3\n", r"trace\.csv:2: "),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,2,3\n", r"trace\.csv:2: "),
    ],
)
def test_names_what_it_cannot_read(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_trace(a_file(tmp_path, text))


def test_multiplies_by_whole_and_by_half() -> None:
    arrivals = [Arrival(float(at), 100, 10) for at in range(1000)]
    assert len(multiplied(arrivals, 3)) == 3000
    assert len(multiplied(arrivals, 1.5)) == pytest.approx(1500, abs=60)
    assert multiplied(arrivals, 1) == arrivals


def test_clones_come_within_two_seconds() -> None:
    clones = multiplied([Arrival(100.0, 5, 5)], 9)
    assert all(98.0 <= clone.at <= 102.0 for clone in clones)


def test_the_same_seed_gives_the_same_load() -> None:
    arrivals = [Arrival(float(at), at + 1, 10) for at in range(100)]
    assert multiplied(arrivals, 2.5, seed=3) == multiplied(arrivals, 2.5, seed=3)
    assert multiplied(arrivals, 2.5, seed=3) != multiplied(arrivals, 2.5, seed=4)


def test_a_warm_up_is_as_dense_as_the_beginning() -> None:
    arrivals = [Arrival(at / 2, 100, 10) for at in range(600)]
    warm = warmed_up(arrivals, 900.0)
    before = [arrival for arrival in warm if arrival.at < 900.0]
    assert len(before) == pytest.approx(1800, rel=0.1)
    assert warm[len(before)].at == 900.0


def test_a_warm_up_needs_requests_at_the_beginning() -> None:
    with pytest.raises(
        InvalidInput, match=r"no request in the first 300 s .* leave out --warm-up, or give more --times"
    ):
        warmed_up([Arrival(400.0, 100, 10)], 900.0)


def test_stages_are_evenly_spaced() -> None:
    arrivals = staged(((2, 3), (1, 2)), prompt=10, output=5)
    assert [arrival.at for arrival in arrivals] == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5, 4.0])


def test_a_piecewise_rate_is_met() -> None:
    arrivals = piecewise(((0, 1), (100, 1), (200, 19)), prompt=(1000, 100), output=(100, 10), seed=1)
    early = sum(arrival.at < 100 for arrival in arrivals)
    assert early == pytest.approx(100, rel=0.3)
    assert len(arrivals) - early == pytest.approx(1000, rel=0.15)
    assert arrivals[-1].at < 200
