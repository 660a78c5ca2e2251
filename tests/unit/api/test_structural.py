"""From pydantic's schema to a structural one: the table of `structural`."""

from typing import Any

import pytest

from llmservice.api.structural import structural
from llmservice.api.v1alpha1.base import ApiModel

TEXT = {"type": "string", "maxLength": 8}
PART = {"type": "object", "description": "A part.", "properties": {"a": TEXT}}


@pytest.mark.parametrize(
    ("pydantic", "kubernetes"),
    [
        ({"anyOf": [TEXT, {"type": "null"}], "default": None, "description": "D."}, {**TEXT, "description": "D."}),
        ({"const": "x", "type": "string"}, {"enum": ["x"], "type": "string"}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "exclusiveMaximum": 9}, {"type": "integer", "maximum": 8}),
        ({"type": "object", "additionalProperties": False, "title": "T"}, {"type": "object"}),
        ({"type": "object", "propertyNames": TEXT, "maxProperties": 2}, {"type": "object", "maxProperties": 2}),
        ({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"}),
        ({"type": "array", "items": TEXT, "default": []}, structural({"type": "array", "items": TEXT})),
        ({"type": "integer", "default": 1}, {"type": "integer", "default": 1}),
        ({"type": "string", "description": "Two\n    lines."}, {"type": "string", "description": "Two lines."}),
    ],
)
def test_translates(pydantic: dict[str, Any], kubernetes: dict[str, Any]) -> None:
    assert structural(pydantic) == kubernetes


@pytest.mark.parametrize("wrapped", [{"$ref": "#/$defs/P"}, {"anyOf": [{"$ref": "#/$defs/P"}, {"type": "null"}]}])
def test_puts_a_definition_in_its_place(wrapped: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"p": wrapped}, "$defs": {"P": PART}}
    assert structural(schema) == {"type": "object", "properties": {"p": PART}}


def test_what_stands_beside_a_reference_wins() -> None:
    field = {"$ref": "#/$defs/P", "description": "This part.", "default": {"a": "b"}}
    schema = {"type": "object", "properties": {"p": field}, "$defs": {"P": PART}}
    assert structural(schema)["properties"]["p"] == {**PART, "description": "This part."}


def test_a_field_may_be_called_like_a_keyword() -> None:
    class Odd(ApiModel):
        """Fields with names of keywords."""

        title: str
        """The title."""

    assert structural(Odd.model_json_schema())["properties"] == {
        "title": {"type": "string", "description": "The title."}
    }
