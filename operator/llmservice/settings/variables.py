"""What a setting is: a field of `Settings` that knows its environment variable, and how the text of one is read."""

from collections.abc import Callable
from dataclasses import Field, dataclass, field
from typing import Any

PREFIX = "LLMSERVICE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One environment variable: the field it sets, how its text is read, and what the reference says of it.

    `read` raises ValueError with a message that ends with the way out.
    """

    field: str
    read: Callable[[str], Any]
    meaning: str
    default: str
    example: str

    @property
    def name(self) -> str:
        """The variable's name."""
        return PREFIX + self.field.upper()


def variable(
    default: Any = None,
    *,
    factory: Callable[[], Any] | None = None,
    read: Callable[[str], Any],
    meaning: str,
    example: str,
    shown: str = "",
) -> Any:
    """A field of `Settings`. `shown` is the default in the words of the reference, where the value does not tell it."""
    metadata = {"read": read, "meaning": meaning, "example": example, "default": shown or _shown(default)}
    return field(default_factory=factory, metadata=metadata) if factory else field(default=default, metadata=metadata)


def _shown(default: Any) -> str:
    return "none" if default in (None, "", ()) else str(default)


def variable_of(setting: Field[Any]) -> Variable:
    """The variable of a field that `variable` made."""
    return Variable(field=setting.name, **setting.metadata)
