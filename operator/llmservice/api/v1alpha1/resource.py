# ruff: noqa: A005  (the word of the API; the standard library's `resource` is never imported from here)
"""The resource: metadata, spec and status as one value."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import ConfigDict, ValidationError

from llmservice.api.group import GROUP, KIND, PLURAL, VERSION
from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.problems import problems_of
from llmservice.api.v1alpha1.size import TOO_LARGE, is_too_large
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.errors import InvalidSpec
from llmservice.untrusted.patterns import compiled

__all__ = ["GROUP", "KIND", "PLURAL", "VERSION", "LLMService", "Metadata"]

_SERVICE_NAME = compiled(r"[a-z]([-a-z0-9]{0,48}[a-z0-9])?")


_TOO_DEEP = "has fields within fields, hundreds deep, which no field of it has: remove them"


class Metadata(ApiModel):
    """What the operator reads of an object's metadata; the rest is passed over.

    The rules stand on the root of the CRD, because a schema cannot carry any on metadata.
    """

    model_config = ConfigDict(extra="ignore")

    name: str
    namespace: str = "default"
    uid: str = ""
    generation: int = 0
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    deletion_timestamp: str | None = None

    rules: ClassVar = (
        Rule(
            cel="self.name.size() <= 50 && self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            holds=lambda metadata: _SERVICE_NAME.matches(metadata.name),
            message="is also the name of a Service and the stem of others: at most 50 characters, a-z, 0-9 and '-', "
            "beginning with a letter; choose another name",
            field_path=".name",
        ),
    )


class LLMService(ApiModel):
    """One model, served: what its user wants (`spec`) and what the operator said last (`status`, as it was read)."""

    api_version: Literal["llmservice.dev/v1alpha1"] = "llmservice.dev/v1alpha1"
    kind: Literal["LLMService"] = "LLMService"
    metadata: Metadata
    spec: LLMServiceSpec
    status: Mapping[str, Any] = {}

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """The resource from its JSON; InvalidSpec with one line for every problem.

        `null` is omission and 1.0 is 1, as for the API server.
        """
        try:
            read = {
                key: value if key == "status" else _as_read(value) for key, value in raw.items() if value is not None
            }
            parsed = cls.model_validate(read, by_alias=True, by_name=False)
        except ValidationError as error:
            raise InvalidSpec(Reason.INVALID_SPEC, "\n".join(problems_of(error, cls))) from None
        except RecursionError:
            raise InvalidSpec(Reason.INVALID_SPEC, _TOO_DEEP, field="spec") from None
        if is_too_large(read["spec"]):
            raise InvalidSpec(Reason.INVALID_SPEC, TOO_LARGE, field="spec")
        return parsed


def _as_read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_read(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_as_read(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
