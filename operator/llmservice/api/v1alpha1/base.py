"""The base of every type of the resource, and the rules that a schema alone cannot say."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from llmservice.api.v1alpha1.field_docs import field_docs

VALIDATIONS = "x-kubernetes-validations"
BROKEN_RULES = "broken_rules"
"""The error type of pydantic that carries broken rules, as (field path, message), in its context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule in both tongues: `cel` for the API server, `holds` for `llmservice render`; a test holds them together.

    `field_path` is relative to the type that carries the rule (".gpu"), `message` ends with the way out. The API
    server asks only when all fields are well-formed, and so does `ApiModel`.
    """

    cel: str
    holds: Callable[[Any], bool]
    message: str
    field_path: str = ""

    def within(self, field: str) -> "Rule":
        """The same rule, carried by the type that has this one as a field."""
        cel = self.cel.replace("self.", f"self.{field}.")
        return dataclasses.replace(self, cel=cel, field_path=f".{field}{self.field_path}")

    def as_validation(self) -> dict[str, str]:
        """The rule as an element of `x-kubernetes-validations`."""
        where = {"fieldPath": self.field_path} if self.field_path else {}
        return {"rule": self.cel, "message": self.message, **where}


class ApiModel(BaseModel):
    """A frozen part of the resource: camelCase outside, snake_case inside, unknown fields refused.

    `unknown_field_hint` ends the message about an unknown field where there is a better place for it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )
    rules: ClassVar[tuple[Rule, ...]] = ()
    unknown_field_hint: ClassVar[str] = ""

    def as_json(self) -> dict[str, Any]:
        """What the user wrote, by the names of Kubernetes: nothing that was omitted, quantities canonical."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself, because it is frozen: pydantic copies every default for each resource it parses."""
        return self

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        broken = tuple((rule.field_path, rule.message) for rule in type(self).rules if not rule.holds(self))
        if broken:
            summary = "; ".join(f"{path}: {message}".removeprefix(": ") for path, message in broken)
            raise PydanticCustomError(BROKEN_RULES, "{summary}", {"summary": summary, "broken": broken})
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        """The schema with the texts of the fields and the rules in it."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        for name, text in field_docs(cls).items():
            schema["properties"][cls.model_fields[name].alias or name]["description"] = text
        if cls.rules:
            schema[VALIDATIONS] = [rule.as_validation() for rule in cls.rules]
        return schema
