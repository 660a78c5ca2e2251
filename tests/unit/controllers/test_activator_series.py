"""How many activators are ready: a figure where they are installed, and none where they are not."""

import sys
from collections.abc import Callable, Collection
from itertools import count
from types import FrameType
from typing import Any

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.metrics.activator_series import ActivatorSeries
from llmservice.reconcilers.activation.activators import PodActivators


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


def test_they_come_and_go_while_another_thread_counts_them() -> None:
    """The other thread may have its turn before any line: here one more comes each time."""
    cache = ObjectCache(keep=lambda pod: pod)
    series, came = ActivatorSeries(PodActivators(cache).ready), count(1)

    def one_comes() -> None:
        number = str(next(came))
        cache.put({"kind": "Pod", "metadata": {"namespace": "ours", "name": number, "resourceVersion": number}})

    def before_each_line(frame: FrameType, _event: str, _argument: object) -> Any:
        if frame.f_code.co_filename.endswith("cache.py"):
            one_comes()
        return before_each_line

    one_comes()
    sys.settrace(before_each_line)
    try:
        families = list(series.collect())
    finally:
        sys.settrace(None)
    assert len(families) == 1
    assert next(came) > 3
