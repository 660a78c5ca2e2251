"""How many activators are ready: a figure where they are installed, and none where they are not."""

from collections.abc import Callable, Collection

import pytest

from llmservice.controllers.metrics.activator_series import ActivatorSeries


@pytest.mark.parametrize(
    ("ready", "values"),
    [(None, []), (frozenset, [0]), (lambda: frozenset({"a", "b"}), [2])],
    ids=["not-installed", "none", "two"],
)
def test_ready_activators_are_counted_where_they_are_installed(
    ready: Callable[[], Collection[object]] | None, values: list[int]
) -> None:
    (family,) = ActivatorSeries(ready).collect()
    assert [(sample.name, sample.labels, sample.value) for sample in family.samples] == [
        ("llmservice_activators_ready", {}, value) for value in values
    ]
