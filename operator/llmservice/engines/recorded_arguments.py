"""Checks of the user's arguments and environment against what was recorded of a version of the engine.

Made once per generation, when its facts are chosen: a later catalogue does not refuse what was accepted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.catalog.catalogue import nearest
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.recorded_flags import Recording, Takes
from llmservice.engines.arguments import Problem, argument_problems, flag_of, owned_flag, raise_for
from llmservice.engines.command_line import Options, Use, completions, uses_in
from llmservice.engines.engine import Engine
from llmservice.untrusted.texts import printable

_SHOWN = 48
"""Characters of a name in a message, and what is compared of one that is not known. Values are never repeated."""
_COMPARED_AT_MOST = 8
"""Names for which similar ones are looked up: a comparison with all options takes milliseconds."""
_NOTES_AT_MOST = 8
_WORDS_ALIKE = 3
_VALUES = {
    Takes.NONE: "no value",
    Takes.ONE: "one value",
    Takes.TWO: "two values",
    Takes.OPTIONAL: "at most one value",
    Takes.MANY: "a value or more",
}

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
    found = [*check.arguments(options.args), *check.variables(names)]
    other = argument_problems(engine, version, options.args, names) if found else []
    said = {(problem.variable, problem.index) for problem in other}
    found = [problem for problem in found if (problem.variable, problem.index) not in said]
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
        self._others = [(name, other) for name, other in reversed(list(recordings.items())) if name != version.version]
        self._prefix = engine.capabilities.syntax.variables
        self._title = f"{engine.name} {version.version}"
        self._compared = 0

    def arguments(self, args: Sequence[str]) -> Iterator[Problem]:
        """Options that are removed or unknown, and values that are missing or too many; not of owned ones."""
        for use in uses_in(args, self._recording.options, self._engine.capabilities.syntax):
            flag = "" if use.fits or not use.name else flag_of(args[use.index])
            if use.fits or owned_flag(self._engine, flag):
                continue
            if flag in self._version.removed:
                yield _rejected(use.index, f"{flag} was removed from this version; {self._version.removed[flag]}")
            elif self._recording.options:
                yield self._of_use(use)

    def variables(self, names: Sequence[str]) -> Iterator[Problem]:
        """Variables that another version of the engine reads, and this one does not."""
        for index, name in self._unread(names):
            if having := self._having(name):
                remedy = self._instead(name) or f", as {having} does{_similar(self._akin(name))}; remove it"
                yield _rejected(index, f"{self._title} does not read {name}{remedy}", variable=True)

    def misspelled(self, names: Sequence[str]) -> Iterator[str]:
        """Notes about variables with the engine's prefix that no version reads."""
        for _, name in self._unread(names):
            if not self._having(name):
                similar = _similar(self._nearest(name, self._recording.variables))
                yield f"{name} is no variable that is known of {self._title}{similar}"

    def _of_use(self, use: Use) -> Problem:
        name, takes = _cut(use.name), use.takes
        if not name:
            return _rejected(use.index, "this value has no option before it; remove it, or write its option first")
        if takes is None:
            return _rejected(use.index, self._unknown(use.name, self._recording.options))
        if use.count < takes.least:
            return _rejected(use.index, f"{name} needs {_VALUES[takes]}; write what is missing as the next item")
        # The first that is too many is in the same word, or an item behind it.
        kept = (use.most or 0) - use.attached
        if kept < 0:
            return _rejected(use.index, f"{name} takes {_VALUES[takes]}; remove the equals sign and what follows it")
        many = f"{_VALUES[Takes.ONE]} behind an equals sign" if use.most != takes.most else _VALUES[takes]
        return _rejected(use.values[kept], f"{name} takes {many}; remove this item")

    def _unknown(self, name: str, options: Options) -> str:
        first = name.split(maxsplit=1)[0]
        if first != name and first in options:
            return f"{first} and what follows it are one item; write each as an item of its own"
        near = completions(name.replace("_", "-"), options)[:3] or self._nearest(name, options)
        if near and (owned := owned_flag(self._engine, flag_of(near[0]))):
            remedy = self._engine.owned.flags[owned]
            return f"{self._title} has no option {_cut(name)}; {near[0]} is owned by the operator: {remedy}"
        return f"{self._title} has no option {_cut(name)}{_similar(near)}; {self._way_out(name)}"

    def _way_out(self, name: str) -> str:
        having = self._having(name.replace("_", "-"))
        return f"remove it, or set spec.engineOptions.version: {having}" if having else "correct or remove it"

    def _instead(self, name: str) -> str:
        """`VLLM_ATTENTION_BACKEND` may have become `--attention-backend`."""
        option = "--" + name.removeprefix(self._prefix).lower().replace("_", "-")
        return f"; use {option} in spec.engineOptions.args" if option in self._recording.options else ""

    def _akin(self, name: str) -> list[str]:
        """Similar variables that differ in one word: of one that is gone a vague likeness helps nobody."""
        words = set(name.split("_"))
        near = self._nearest(name, self._recording.variables)
        return [each for each in near if len(words & set(each.split("_"))) >= max(_WORDS_ALIKE, len(words) - 1)]

    def _having(self, name: str) -> str:
        """The last other version that knows an option or a variable; empty where none does."""
        having = (version for version, other in self._others if name in other.options or name in other.variables)
        return next(having, "")

    def _unread(self, names: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Variables with the engine's prefix that this version does not read; none where nothing is known of them."""
        known = self._recording.variables
        for index, name in enumerate(names if self._prefix and known else ()):
            # llama.cpp reads the negation of a switch too: LLAMA_ARG_NO_PERF.
            if name.startswith(self._prefix) and not {name, name.replace("_NO_", "_", 1)} & known:
                yield index, name

    def _nearest(self, name: str, known: Collection[str]) -> list[str]:
        self._compared += 1
        return nearest(name[:_SHOWN], sorted(known)) if self._compared <= _COMPARED_AT_MOST else []


def _rejected(index: int, message: str, *, variable: bool = False) -> Problem:
    return Problem(reason=Reason.ENGINE_ARGUMENT_REJECTED, index=index, message=message, variable=variable)


def _similar(names: Sequence[str]) -> str:
    return f" (similar: {', '.join(names)})" if names else ""


def _cut(text: str) -> str:
    shown = " ".join(text[: _SHOWN + 1].split())
    return printable(shown if len(text) <= _SHOWN else f"{shown[:_SHOWN]}…")


def _notes(lines: Iterator[str]) -> tuple[str, ...]:
    listed = list(lines)
    more = (f"and {len(listed) - _NOTES_AT_MOST} more of the like",) if len(listed) > _NOTES_AT_MOST else ()
    return (*listed[:_NOTES_AT_MOST], *more)
