"""The notation of a series in a row."""

import pytest

from llmservice.catalog.metrics import Series


@pytest.mark.parametrize(
    ("written", "series"),
    [
        ("acme:queue", Series(name="acme:queue")),
        ('acme_failed{err="full"}', Series(name="acme_failed", label="err", accepted=frozenset({"full"}))),
        (
            'acme_failed{err=~"full|gone"}',
            Series(name="acme_failed", label="err", accepted=frozenset({"full", "gone"})),
        ),
        ('acme:queue{priority=""}', Series(name="acme:queue", label="priority", accepted=frozenset({""}))),
        ("acme:info[slots]", Series(name="acme:info", label="slots", in_label=True)),
        ("acme:a+acme:b", Series(name="acme:a", plus=Series(name="acme:b"))),
    ],
)
def test_a_series_is_read_as_it_is_written(written: str, series: Series) -> None:
    assert Series.parse(written) == series


def test_all_that_is_added_up_is_named() -> None:
    assert [part.name for part in Series.parse('a+b{x="1"}+c').addends] == ["a", "b", "c"]


@pytest.mark.parametrize("written", ["", "+", "a+", "+a", "a{b}", "a{b=c}", "1a", 'a{b=""}x'])
def test_what_is_no_series_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="series"):
        Series.parse(written)
