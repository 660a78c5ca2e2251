"""The page of every cause that an engine's log names, from the engines' patterns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Engine

_HEAD = """\
# Why an engine exited

The operator reads the end of an engine's log when it exits, and looks for words that name the cause. The condition
`Ready` then has the reason, the cause, the line, and what to do: the same for every engine where the words are those of
a library. A number in braces is read from the line; `{largest}` is the largest context that fits, by the engine's own
figure or else by ours.

Without such a line the exit code decides (132, 135, 137 and 139 have a cause), and the reason of an eviction.
"""


class _Row(NamedTuple):
    cause: str
    remedy: str


Causes = Mapping[Reason, Mapping[_Row, Sequence[str]]]
"""For each reason its causes, and the engines whose logs name them."""


def causes_of(engines: Mapping[str, Engine]) -> Causes:
    """Every cause, in the order of the engines and of their patterns."""
    found: dict[Reason, dict[_Row, list[str]]] = {}
    for name, engine in engines.items():
        for each in engine.log_patterns:
            row = _Row(each.cause, each.remedy_in_numbers or each.remedy)
            names = found.setdefault(each.reason, {}).setdefault(row, [])
            names.extend([name] * (name not in names))
    return {reason: found[reason] for reason in Reason if reason in found}


def causes_page(engines: Mapping[str, Engine]) -> str:
    """The page as Markdown: a section for each reason."""
    causes = causes_of(engines)
    return "\n".join([_HEAD, *(_section(reason, causes[reason], len(engines)) for reason in causes)])


def _section(reason: Reason, rows: Mapping[_Row, Sequence[str]], engines: int) -> str:
    parts = [f"## {reason}\n\n[What the reason means](reasons.md#{reason.lower()})\n\n"]
    parts += ["| cause | what to do | in the log of |\n|---|---|---|\n"]
    parts += [f"| {row.cause} | {row.remedy} | {_named(names, engines)} |\n" for row, names in rows.items()]
    return "".join(parts)


def _named(names: Sequence[str], engines: int) -> str:
    return "every engine" if len(names) == engines else ", ".join(_lines(names))


def _lines(names: Sequence[str]) -> Iterator[str]:
    """The names as code: they are those of `spec.engine`."""
    for name in names:
        yield f"`{name}`"
