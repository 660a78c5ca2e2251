"""Checks of the user's arguments and environment against what was recorded of a version of the engine.

Made once per generation, when its facts are chosen: a later catalogue does not refuse what was accepted.
"""

from collections.abc import Iterator, Mapping, Sequence

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.catalog.catalogue import nearest
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.recorded_flags import Recording, Takes
from llmservice.engines.arguments import Problem, argument_problems, flag_of, owned_flag, raise_for
from llmservice.engines.command_line import Options, Use, completions, name_in, uses_in
from llmservice.engines.engine import Engine

_SHOWN = 48
"""Characters of a name or value in a message, and what is compared of a name that is not known."""
_COMPARED_AT_MOST = 8
"""Names for which similar ones are looked up: a comparison with all options takes milliseconds."""
_NOTES_AT_MOST = 8

Recordings = Mapping[str, Recording]
"""Version → what was recorded of it, of one engine."""


def check_recorded(
    engine: Engine, version: EngineVersion, recordings: Recordings, options: EngineOptions
) -> tuple[str, ...]:
    """Notes about the options; raises InvalidSpec, one line for each problem, where the engine would not start.

    Of a version without a recording only removed flags are refused. An image of one's own may know other options: there
    every problem is a note.
    """
    check = _Check(engine, version, recordings)
    names = [variable.name for variable in options.env]
    other = argument_problems(engine, version, options.args, names)
    known = {(problem.variable, problem.index) for problem in other}
    found = [*check.arguments(options.args, known), *check.variables(names)]
    found = [problem for problem in found if (problem.variable, problem.index) not in known]
    if options.image is not None:
        return _notes(f"{problem.line}; your image may differ" for problem in found)
    if found:
        raise_for([*other, *found])
    return _notes(check.misspelled(names))


class _Check:
    """One check; counts the names that were compared."""

    def __init__(self, engine: Engine, version: EngineVersion, recordings: Recordings) -> None:
        self._engine, self._version = engine, version
        self._recording = recordings.get(version.version, Recording())
        self._others = {name: other for name, other in recordings.items() if name != version.version}
        self._title = f"{engine.name} {version.version}"
        self._compared = 0

    def arguments(self, args: Sequence[str], reported: set[tuple[bool, int]]) -> Iterator[Problem]:
        """Options that are removed or unknown, and values that are missing or too many; not of `reported` ones."""
        for use in uses_in(args, self._recording.options, self._engine.capabilities.syntax):
            flag = flag_of(args[use.index]) if use.name else ""
            if (False, use.index) in reported or owned_flag(self._engine, flag):
                continue
            if flag in self._version.removed:
                yield _rejected(use.index, f"{flag} was removed from this version; {self._version.removed[flag]}")
            elif self._recording.options:
                yield from self._of_use(use, args)

    def variables(self, names: Sequence[str]) -> Iterator[Problem]:
        """Variables that another version of the engine reads, and this one does not."""
        for index, name in enumerate(names):
            if self._is_gone(name):
                yield _rejected(index, f"{self._title} does not read {name}{self._instead(name)}", variable=True)

    def misspelled(self, names: Sequence[str]) -> Iterator[str]:
        """Notes about names that look like a variable of this version and are none."""
        families = {_family(name) for name in self._recording.other}
        for name in names:
            if _family(name) in families and not self._reads(name):
                yield f"{self._title} does not read {name}{self._similar(self._nearest(name, variables=True))}"

    def _of_use(self, use: Use, args: Sequence[str]) -> Iterator[Problem]:
        options = self._recording.options
        if not use.name:
            value = _cut(args[use.index])
            yield _rejected(use.index, f"{value!r} is the value of no option; remove it, or write the option before it")
        elif use.takes is None:
            yield _rejected(use.index, self._unknown(use.name, options))
        elif use.count < use.takes.least:
            many = "two values" if use.takes is Takes.TWO else "a value"
            yield _rejected(use.index, f"{_cut(use.name)} needs {many}; write it as the next item")
        elif use.takes.most is not None and use.count > use.takes.most:
            yield self._too_many(use, args)

    def _too_many(self, use: Use, args: Sequence[str]) -> Problem:
        most = use.takes.most if use.takes else 0
        kept = (most or 0) - use.attached
        index = use.values[kept] if kept >= 0 else use.index
        takes = {0: "no value", 1: "one value"}.get(most or 0, "two values")
        value = args[index] if index != use.index else args[index].partition("=")[2]
        return _rejected(index, f"{_cut(use.name)} takes {takes}; remove {_cut(value)!r}")

    def _unknown(self, name: str, options: Options) -> str:
        first = name_in(name.split(maxsplit=1)[0])
        if first != name and first in options:
            return f"{first} and what follows it are one item; write each as an item of its own"
        longer = completions(name.replace("_", "-"), options)[:3]
        similar = self._similar(longer or self._nearest(name))
        return f"{self._title} has no option {_cut(name)}{similar}; {self._way_out(name)}"

    def _way_out(self, name: str) -> str:
        having = [version for version, other in self._others.items() if name.replace("_", "-") in other.options]
        return f"remove it, or set spec.engineOptions.version: {having[-1]}" if having else "correct or remove it"

    def _instead(self, name: str) -> str:
        """`VLLM_ATTENTION_BACKEND` may have become `--attention-backend`."""
        option = "--" + name.removeprefix(_family(name)).lower().replace("_", "-")
        if option in self._recording.options:
            return f"; use {option} in spec.engineOptions.args"
        return f"{self._similar(self._nearest(name, variables=True))}; remove it"

    def _similar(self, names: Sequence[str]) -> str:
        return f" (similar: {', '.join(names)})" if names else ""

    def _nearest(self, name: str, *, variables: bool = False) -> list[str]:
        self._compared += 1
        known = self._recording.variables if variables else self._recording.options
        return nearest(name[:_SHOWN], sorted(known)) if self._compared <= _COMPARED_AT_MOST else []

    def _is_gone(self, name: str) -> bool:
        return (
            bool(self._recording.variables)
            and not self._reads(name)
            and any(name in other.variables for other in self._others.values())
        )

    def _reads(self, name: str) -> bool:
        """llama.cpp reads the negation of a switch too: `LLAMA_ARG_NO_PERF`."""
        return name in self._recording.variables or name.replace("_NO_", "_", 1) in self._recording.variables


def _rejected(index: int, message: str, *, variable: bool = False) -> Problem:
    return Problem(reason=Reason.ENGINE_ARGUMENT_REJECTED, index=index, message=message, variable=variable)


def _family(name: str) -> str:
    """The prefix of a variable: `VLLM_`."""
    return name.partition("_")[0] + "_"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _notes(lines: Iterator[str]) -> tuple[str, ...]:
    listed = list(lines)
    more = (f"and {len(listed) - _NOTES_AT_MOST} more of the like",) if len(listed) > _NOTES_AT_MOST else ()
    return (*listed[:_NOTES_AT_MOST], *more)
