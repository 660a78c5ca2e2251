"""A bound on all of a spec: each list has its own, and their product would be megabytes.

What is in memory and travels with every change is one resource after the other: none may be so large that a hundred of
them fill the operator's memory.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from llmservice.api.structural import structural
from llmservice.api.v1alpha1.base import Rule
from llmservice.api.v1alpha1.measures import Measure, measure
from llmservice.api.v1alpha1.small import is_small
from llmservice.api.v1alpha1.spec import LLMServiceSpec

LARGEST_SPEC_BYTES = 96 * 1024
"""With a status of at most 32 kB: 128 kB."""

TOO_LARGE = (
    "is larger than 96 kB, where each character of a free text counts four bytes: give long texts as files from a "
    "ConfigMap (engineOptions.files), and remove what is not needed"
)


def size_rule() -> Rule:
    """The bound as a rule on the spec."""
    room = LARGEST_SPEC_BYTES - _spec().fixed
    return Rule(cel=f"{_spec().cel('self')} <= {room}", holds=lambda _: True, message=TOO_LARGE)


def is_too_large(spec: Mapping[str, Any]) -> bool:
    """Whether a well-formed spec, as JSON, is above the bound."""
    return not is_small(spec, LARGEST_SPEC_BYTES) and _spec().fixed + _spec().of(spec) > LARGEST_SPEC_BYTES


@lru_cache(maxsize=1)
def _spec() -> Measure:
    return measure(structural(LLMServiceSpec.model_json_schema()))
