"""What an engine version reads: options, and the variables that it knows.

`llama-server --help | python -m llmservice.catalog.recorded_flags >flags/llamacpp-<version>.txt` records them from a
help text; `tools/engine_flags` from sources. A line holds one option: its spellings, how many values it takes, and its
environment variable if it has one; a line without a spelling holds a variable that is no option's.

    -c --ctx-size one LLAMA_ARG_CTX_SIZE
    VLLM_LOGGING_LEVEL
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_SPELLINGS = re.compile(r"-{1,2}[A-Za-z][-A-Za-z0-9.]*(?:, +-{1,2}[A-Za-z][-A-Za-z0-9.]*)*")
_HINT = re.compile(r" (\S+(?: \S+)*)")
_TWO_WORDS = re.compile(r"[A-Z0-9]+ [A-Z0-9]+")
_REMOVED = "the argument has been removed"
_VARIABLE = re.compile(r"\(env: ([A-Z][A-Z0-9_]*)\)")


class Takes(StrEnum):
    """How many values follow an option; UNKNOWN where that was not recorded, and any number is accepted."""

    NONE = "none"
    ONE = "one"
    TWO = "two"
    OPTIONAL = "optional"
    """None or one."""
    MANY = "many"
    """One or more."""
    UNKNOWN = ""

    @property
    def least(self) -> int:
        """The fewest values it is valid with."""
        return _LEAST.get(self, 0)

    @property
    def most(self) -> int | None:
        """The most values it is valid with; None for any number."""
        return _MOST.get(self)


_LEAST = {Takes.ONE: 1, Takes.MANY: 1, Takes.TWO: 2}
_MOST = {Takes.NONE: 0, Takes.ONE: 1, Takes.OPTIONAL: 1, Takes.TWO: 2}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: every spelling (`-c`, `--ctx-size`), the variable that does the same or ``""``, and its values."""

    spellings: tuple[str, ...]
    variable: str = ""
    takes: Takes = Takes.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What was recorded of one version: its options by each spelling, and the names of variables it reads.

    A recording without variables says nothing about them.
    """

    options: Mapping[str, Option] = field(default_factory=dict)
    variables: frozenset[str] = frozenset()


def recording_in(text: str) -> Recording:
    """A recorded file."""
    options = {spelling: option for option in recorded_options(text) for spelling in option.spellings}
    own = {option.variable for option in options.values()} - {""}
    return Recording(options=options, variables=frozenset({*own, *recorded_variables(text)}))


def options_in_help(text: str) -> Iterator[Option]:
    """The options of a help text in the layout of llama.cpp: spellings in column 1, the variable in the text below.

    What follows the spellings by one space stands for the value, by more it is the description. Options that are listed
    as removed are skipped.
    """
    for block in re.split(r"\n(?=-)", text):
        spellings = _SPELLINGS.match(block)
        if spellings and _REMOVED not in block:
            variable = _VARIABLE.search(block)
            takes = _takes(block[spellings.end() :].partition("\n")[0])
            yield Option(tuple(re.split(r", +", spellings[0])), variable[1] if variable else "", takes)


def recorded_options(text: str) -> Iterator[Option]:
    """The options of a recorded file."""
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("-"):
            spellings = tuple(word for word in words if word.startswith("-"))
            others = words[len(spellings) :]
            takes = next((Takes(word) for word in others if word.islower()), Takes.UNKNOWN)
            yield Option(spellings, "".join(word for word in others if not word.islower()), takes)


def recorded_variables(text: str) -> Iterator[str]:
    """The variables of a recorded file that are no option's."""
    return (line for line in text.splitlines() if line and not line.startswith(("-", "#")))


def recording_of(options: Iterable[Option], variables: Iterable[str] = ()) -> str:
    """The text of a recorded file."""
    lines = (" ".join(filter(None, (*option.spellings, option.takes, option.variable))) for option in options)
    return "".join(f"{line}\n" for line in (*lines, *variables))


def _takes(rest: str) -> Takes:
    if not (hint := _HINT.match(rest)):
        return Takes.NONE
    return Takes.TWO if _TWO_WORDS.fullmatch(hint[1]) else Takes.ONE


if __name__ == "__main__":
    sys.stdout.write(recording_of(options_in_help(sys.stdin.read())))
