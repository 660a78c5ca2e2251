"""What a check says of a file: where, how bad, by which rule, in one sentence."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from llmservice.cli.field_paths import field_and_message
from llmservice.errors import InvalidSpec
from llmservice.untrusted.texts import in_a_line

_LONGEST_MESSAGE = 2000


class Severity(StrEnum):
    """How bad; the words are those of SARIF."""

    ERROR = "error"
    """It is refused."""
    WARNING = "warning"
    """It can run, and its writer should know this."""
    NOTE = "note"
    """Nothing is wrong."""


class Rule(StrEnum):
    """Rules that are no reason of a condition; `rules.py` says what they mean."""

    UNREADABLE = "Unreadable"
    NOT_UTF8 = "NotUtf8"
    NOT_YAML = "NotYaml"
    TOO_LARGE = "TooLarge"
    NO_LLMSERVICE = "NoLLMService"
    REPEATED_KEY = "RepeatedKey"
    REPEATED_NAME = "RepeatedName"
    PLAN_NOTE = "PlanNote"
    OWN_IMAGE = "OwnImage"
    TIGHT = "Tight"
    DOES_NOT_FIT = "DoesNotFit"
    NOT_INSPECTED = "NotInspected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. `line` and `column` are from 1; `service` is namespace/name, empty of a file as a whole.

    `rule` is a reason of conditions or a `Rule`. `message` does not repeat the field.
    """

    file: str
    line: int = 1
    column: int = 1
    service: str = ""
    severity: Severity
    rule: str
    field: str = ""
    message: str

    def sentence(self) -> str:
        """Field, problem and remedy."""
        return f"{self.field}: {self.message}" if self.field else self.message


def lines_of(error: InvalidSpec) -> Iterator[tuple[str, str, str]]:
    """Each problem of a refusal, as reason, field and message."""
    for part in error.parts or (error,):
        for line in str(part).splitlines() or [part.reason]:
            field, message = field_and_message(line)
            yield str(part.reason), field, one_line(message)


def one_line(text: str) -> str:
    """The text without line ends and whatever else steers its reader, cut to a size."""
    return in_a_line(text, _LONGEST_MESSAGE)
