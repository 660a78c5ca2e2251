"""No spec is larger than 96 kB: what the bound counts is never less than what JSON takes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from llmservice.api.structural import structural
from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.api.v1alpha1.measures import Measure, measure
from llmservice.api.v1alpha1.size import LARGEST_SPEC_BYTES, size_rule
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from tests.cluster.generated import _objects, spec_schema

SCHEMA = structural(LLMServiceSpec.model_json_schema())
SPEC = measure(SCHEMA)


def counted(measured: Measure, value: Any) -> int:
    return measured.fixed + measured.of(value)


def json_bytes(value: Any) -> int:
    """As JSON, with nothing escaped but what must be."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def largest(schema: Mapping[str, Any], elements: int) -> Any:
    """A value that takes most bytes, with so many elements in each list and map."""
    if "properties" in schema:
        return {name: largest(part, elements) for name, part in schema["properties"].items()}
    if "additionalProperties" in schema:
        return {f"{number}" * 317: largest(schema["additionalProperties"], elements) for number in range(elements)}
    if schema.get("type") == "array":
        return [largest(schema["items"], elements) for _ in range(min(elements, schema["maxItems"]))]
    if "enum" in schema:
        return max(schema["enum"], key=len)
    if "maxLength" in schema:
        has_form = any("matches" in rule["rule"] for rule in schema.get(VALIDATIONS, ()))
        return ("x" if has_form else "😀") * schema["maxLength"]
    return False if schema["type"] == "boolean" else schema["maximum"]


@pytest.mark.parametrize("elements", [0, 1, 2, 16])
def test_the_largest_value_of_each_field_counts_what_it_takes_and_hardly_more(elements: int) -> None:
    value = largest(SCHEMA, elements)
    assert json_bytes(value) <= counted(SPEC, value) <= 1.05 * json_bytes(value)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(_objects(spec_schema(), forms=True))
def test_no_spec_counts_less_than_it_takes(spec: dict[str, Any]) -> None:
    escaped = sum(text.count(mark) for text in texts_of(spec) for mark in map(chr, range(32)))
    quoted = sum(text.count(mark) for text in texts_of(spec) for mark in '"\\')
    assert counted(SPEC, spec) >= json_bytes(spec) - 5 * escaped - quoted


def texts_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts_of(part)]


def test_without_the_rule_a_spec_could_be_megabytes() -> None:
    assert json_bytes(largest(SCHEMA, 8)) > 4 * LARGEST_SPEC_BYTES


def test_the_shipped_schema_has_the_rule_on_the_spec() -> None:
    assert size_rule().as_validation() in spec_schema()[VALIDATIONS]


def test_every_list_of_the_schema_is_counted() -> None:
    rule = size_rule().cel
    assert [name for name in lists_in(SCHEMA) if name not in rule] == []


def lists_in(schema: Mapping[str, Any], name: str = "") -> list[str]:
    if "properties" in schema:
        return [found for key, part in schema["properties"].items() for found in lists_in(part, key)]
    within = schema.get("items") or schema.get("additionalProperties")
    return [name, *lists_in(within)] if within else []


@pytest.mark.parametrize(
    "spec",
    [
        {"engine": "vllm", "model": {"uri": "hf://a/b", "names": ["n"] * 16}, "engineOptions": {"args": ["x" * 4000]}},
        {"engine": "vllm", "engineOptions": {"env": [{"name": f"V{n}", "value": "x" * 32} for n in range(128)]}},
        {"engine": "vllm", "engineOptions": {"args": ["--chat-template", "{{ x }}" * 1000]}},
        {"engine": "vllm", "pod": {"tolerations": [{"key": "a", "operator": "Exists"}] * 32}},
    ],
)
def test_what_people_write_is_far_below_the_bound(spec: dict[str, Any]) -> None:
    assert counted(SPEC, spec) < 0.7 * LARGEST_SPEC_BYTES
