"""Lists whose elements are told apart: by keys (merged by the API server) or by themselves (a set)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

REPEATED = "repeated"
"""The error type of pydantic for a list that names the same thing twice."""


@dataclass(frozen=True, slots=True)
class Unique:
    """Elements differ: in the named fields (python names), or as a whole when none is named.

    On the API server this is the list type `map` or `set`, which also lets server-side apply merge by element.
    """

    fields: tuple[str, ...] = ()

    def check(self, items: Sequence[Any]) -> Sequence[Any]:
        """The items, if no two are the same."""
        identity = attrgetter(*self.fields) if self.fields else str
        repeated = [key for key, times in Counter(map(identity, items)).items() if times > 1]
        if repeated:
            what = " and ".join(map(to_camel, self.fields)) or "value"
            named = ", ".join(map(str, repeated))
            raise PydanticCustomError(REPEATED, "{message}", {"message": f"the same {what} twice ({named}): keep one"})
        return items

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check after the elements."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The list type of Kubernetes."""
        schema = handler(core)
        schema["x-kubernetes-list-type"] = "map" if self.fields else "set"
        if self.fields:
            schema["x-kubernetes-list-map-keys"] = [to_camel(field) for field in self.fields]
        return schema
