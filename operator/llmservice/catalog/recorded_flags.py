"""The options of an engine version, recorded from its own --help.

`llama-server --help | python -m llmservice.catalog.recorded_flags >flags/llamacpp-<version>.txt` records them. A line
holds one option: its spellings, then its environment variable if it has one.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

_SPELLINGS = re.compile(r"-{1,2}[A-Za-z][-A-Za-z0-9.]*(?:, +-{1,2}[A-Za-z][-A-Za-z0-9.]*)*")
_REMOVED = "the argument has been removed"
_VARIABLE = re.compile(r"\(env: ([A-Z][A-Z0-9_]*)\)")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: every spelling (`-c`, `--ctx-size`), and the environment variable that does the same, or ``""``."""

    spellings: tuple[str, ...]
    variable: str = ""


def options_in_help(text: str) -> Iterator[Option]:
    """The options of a help text in the layout of llama.cpp: spellings in column 1, the variable in the text below.

    Options that are listed as removed are skipped.
    """
    for block in re.split(r"\n(?=-)", text):
        spellings = _SPELLINGS.match(block)
        if spellings and _REMOVED not in block:
            variable = _VARIABLE.search(block)
            yield Option(tuple(re.split(r", +", spellings[0])), variable[1] if variable else "")


def recorded_options(text: str) -> Iterator[Option]:
    """The options of a recorded file."""
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("-"):
            spellings = tuple(word for word in words if word.startswith("-"))
            yield Option(spellings, "".join(word for word in words if not word.startswith("-")))


def recording_of(options: Iterator[Option]) -> str:
    """The text of a recorded file."""
    return "".join(" ".join((*option.spellings, option.variable)).rstrip() + "\n" for option in options)


if __name__ == "__main__":
    sys.stdout.write(recording_of(options_in_help(sys.stdin.read())))
