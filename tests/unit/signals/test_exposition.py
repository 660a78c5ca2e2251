"""Reading the text of an exposition where it is wanted."""

import math

import pytest

from llmservice.signals.exposition import has_samples, has_too_many_lines, names_in, scan
from llmservice.signals.samples import Sample, wanted
from tests.unit.signals.fake_engine import VERSIONS, metric_names_of, recorded


def values(page: str, name: str = "m", label: str = "") -> list[tuple[str, float]]:
    return [(sample.label, sample.value) for sample in scan(page.encode(), {name: label}).get(name, ())]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("m 4", 4.0),
        ("m\t4", 4.0),
        ("m 4 1700000000000", 4.0),
        ("m{} 4", 4.0),
        ('m{a="1",b="2"} 4.5e3', 4500.0),
        ('m{a="1"} 4 1700000000000', 4.0),
        ('m{a="x } 9"} 4', 4.0),
        ('m{a="x \\" } 9"} 4', 4.0),
        ('m{a="1"} 4 # {trace_id="7"} 0.5 1700000000', 4.0),
        ('m{a="# {"} 4 # {trace_id="}"} 0.5', 4.0),
        ("m +Inf", math.inf),
        ("m -3", -3.0),
    ],
)
def test_finds_the_value_however_a_line_is_written(line: str, value: float) -> None:
    assert values(f"# TYPE m gauge\n{line}\n") == [("", value)]


@pytest.mark.parametrize("line", ["m NaN", "m", "m ", "m four", 'm{a="1"}', 'm{a="1" 4', 'm{a="1"} # 4'])
def test_a_value_that_is_no_number_is_not_a_number(line: str) -> None:
    ((_, value),) = values(f"{line}\n")
    assert math.isnan(value)


def test_every_label_set_counts_duplicates_too() -> None:
    assert values('m{e="0"} 1\nm{e="1"} 2\nm{e="1"} 2\n') == [("", 1.0), ("", 2.0), ("", 2.0)]


@pytest.mark.parametrize(
    ("labels", "found"),
    [('{le="0.5"}', "0.5"), ('{engine="0",le="0.5"}', "0.5"), ('{title="9",le="0.5"}', "0.5"), ('{a=",le=\\"9"}', "")],
)
def test_reads_the_label_that_is_asked_for(labels: str, found: str) -> None:
    assert values(f"m{labels} 1\n", label="le") == [(found, 1.0)]


@pytest.mark.parametrize("line", ['m{a="# } le=9", le="0.5"} 1', 'm{a="\\\\",le="0.5"} 1', 'm{a="le=",le = "0.5",} 1'])
def test_a_label_is_found_behind_one_that_looks_like_it(line: str) -> None:
    assert values(f"{line}\n", label="le") == [("0.5", 1.0)]


def test_a_line_that_is_too_long_has_no_value_and_a_long_label_is_cut() -> None:
    ((_, value),) = values('m{a="' + "#" * 20_000 + '"} 1\n')
    assert math.isnan(value)
    ((label, value),) = values('m{le="' + "9" * 2000 + '"} 1\n', label="le")
    assert (value, len(label) < 200) == (1.0, True)


def test_of_a_page_with_too_many_lines_the_beginning_is_read_and_the_page_is_told_from_others() -> None:
    page = "m 1\n" * 50_001
    assert len(values(page)) == 50_000
    assert has_too_many_lines(page.encode())
    assert not has_too_many_lines(page[4:].encode())


def test_a_longer_name_is_another_one() -> None:
    assert values("m_total 1\nmm 2\n# m 3\nm 4\n") == [("", 4.0)]


def test_a_last_line_that_was_cut_does_not_count() -> None:
    assert values("m 1\nm 23") == [("", 1.0)]


@pytest.mark.parametrize("page", [b"", b"\n\n", b"\x00\xff\xfe\n", b"<html><body>m 1</body></html>\n", b"{}\n"])
def test_nothing_is_found_in_what_is_no_exposition(page: bytes) -> None:
    assert scan(page, {"m": "le"}) == {}


@pytest.mark.parametrize(
    ("page", "is_one"),
    [
        (b"", True),
        (b"\n", True),
        (b'other{a="b"} 1\n', True),
        (b"other NaN\n", True),
        (b"# only comments\n", False),
        (b"<!doctype html>\n<p>m</p>\n", False),
        (b'{"error": "not found"}\n', False),
    ],
)
def test_tells_an_exposition_from_anything_else(page: bytes, is_one: bool) -> None:
    assert has_samples(page) is is_one


@pytest.mark.parametrize("engine", VERSIONS)
def test_the_wanted_series_of_a_recorded_page_are_all_there(engine: str) -> None:
    readings = metric_names_of(engine)
    found = scan(recorded(engine), wanted(readings))
    older = {"vllm:gpu_cache_usage_perc", "vllm:prompt_tokens_total", "vllm:request_prompt_tokens_sum"}
    older |= {f"vllm:time_per_output_token_seconds_{end}" for end in ("count", "sum")}
    assert wanted(readings).keys() - found.keys() - older == set()
    assert all(isinstance(sample, Sample) for samples in found.values() for sample in samples)


def test_the_names_of_a_page_are_those_of_its_samples() -> None:
    page = b'# TYPE of_no_sample counter\na:b_total{x="c 1"} 2\nd 1.5 1700000000\n}\nbroken line\n'
    assert names_in(page) == {"a:b_total", "d"}
