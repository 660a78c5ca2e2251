"""A decision and, where the resource leaves it open, the default with its reason."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from llmservice.engines.engine import Default

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Decided(Generic[Value]):
    """One decided value; `defaults` is empty when the resource sets it."""

    value: Value
    defaults: tuple[Default, ...] = ()


def default(field: str, value: object, reason: str) -> tuple[Default, ...]:
    """The one default of a decision."""
    return (Default(field=field, value=str(value), reason=reason),)
