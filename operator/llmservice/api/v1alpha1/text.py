"""Texts with a form: bounded, with a message that says what to write instead."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.untrusted.patterns import Pattern, compiled

WRONG_FORM = "wrong_form"
"""The error type of pydantic for a text that has not the form it should have."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text: a regular expression, matched as a whole by RE2, here as in CEL.

    A schema's own `pattern` would say the same, but refuse with the bare expression instead of the way out.
    """

    pattern: str
    message: str
    _compiled: Pattern = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", compiled(self.pattern))

    def check(self, text: str) -> str:
        """The text, if it has the form."""
        if not self._compiled.matches(text):
            raise PydanticCustomError(WRONG_FORM, "{message}", {"message": self.message})
        return text

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check after the bounds."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the form as a CEL rule."""
        schema = handler(core)
        schema[VALIDATIONS] = [{"rule": self.cel("self"), "message": self.message}]
        return schema

    def cel(self, text: str) -> str:
        """Return the CEL expression that a text has the form."""
        return f"{text}.matches(r'^(?:{self.pattern})$')"


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The form of a map's keys, for CEL: a structural schema has no word for keys. Python reads it off their type."""

    form: Form

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Add the form as a CEL rule on the map."""
        schema = handler(core)
        rule = f"self.all(key, {self.form.cel('key')})"
        schema[VALIDATIONS] = [{"rule": rule, "message": f"has a key that {self.form.message}"}]
        return schema


ObjectName = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Form(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        "is not the name of a Kubernetes object: use lower-case letters, digits, '-' and '.'",
    ),
]
"""The name of an object in the same namespace."""

DataKey = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Form(r"[-._a-zA-Z0-9]+", "is not a key of a Secret or ConfigMap: use letters, digits, '-', '_' and '.'"),
]
"""A key in the data of a Secret or ConfigMap."""

_LONGEST_DOMAIN = 253


class _LabelKeyForm(Form):
    """A form with a bound on the part before the slash, for which a regular expression has no word."""

    def check(self, text: str) -> str:
        if text.find("/") > _LONGEST_DOMAIN:
            raise PydanticCustomError(WRONG_FORM, "{message}", {"message": self.message})
        return super().check(text)

    def cel(self, text: str) -> str:
        return f"{super().cel(text)} && {text}.indexOf('/') <= {_LONGEST_DOMAIN}"


LABEL_KEY = _LabelKeyForm(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?",
    "is not a label key: write name or domain/name, the name at most 63 letters, digits, '-', '_' and '.'",
)
LabelKey = Annotated[str, Field(min_length=1, max_length=317), LABEL_KEY]
"""The key of a label or annotation."""

LabelValue = Annotated[
    str,
    Field(max_length=63),
    Form(
        r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?",
        "is not a label value: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    ),
]
"""The value of a label."""
