"""The quick look at a spec's size never calls small what the measure calls too large."""

from collections.abc import Iterator
from typing import Any

import pytest

from llmservice.api.v1alpha1 import size
from llmservice.api.v1alpha1.measures import Counted, Fields, Measure, Measured
from llmservice.api.v1alpha1.size import LARGEST_SPEC_BYTES, is_too_large
from llmservice.api.v1alpha1.small import MOST_FOR_A_VALUE, MOST_FOR_ALL, is_small
from tests.builders import an_llmservice


def every(measure: Measure) -> Iterator[Measure]:
    yield measure
    if isinstance(measure, Fields):
        for part in measure.parts.values():
            yield from every(part)
    if isinstance(measure, Measured):
        yield from every(measure.item)


def test_no_element_and_no_character_counts_for_more() -> None:
    measures = list(every(size._spec()))
    assert len(measures) > 50
    assert max(each.each for each in measures if isinstance(each, Counted | Measured)) <= MOST_FOR_A_VALUE
    assert max(each.key for each in measures if isinstance(each, Measured)) <= 4


def test_what_is_always_there_counts_for_no_more() -> None:
    assert size._spec().fixed <= MOST_FOR_ALL


def test_usual_specs_are_small() -> None:
    assert is_small(an_llmservice()["spec"], LARGEST_SPEC_BYTES)


@pytest.mark.parametrize("part", [{"args": ["x" * 100]}, {"env": [{"name": "A", "value": "x" * 100}]}])
def test_a_spec_that_grows_stops_being_small_before_it_is_too_large(part: dict[str, list[Any]]) -> None:
    seen = []
    for times in range(0, 2000, 20):
        ((name, items),) = part.items()
        spec = an_llmservice(spec__engineOptions={name: items * times})["spec"]
        seen.append((is_small(spec, LARGEST_SPEC_BYTES), is_too_large(spec)))
    assert seen[0] == (True, False)
    assert seen[-1] == (False, True)
    assert (True, True) not in seen
