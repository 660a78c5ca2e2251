"""Checks of the user's arguments and environment that hold for every version: what the operator owns, and the form.

What one version knows is checked once per generation, in `recorded_arguments.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.command_line import LONGEST_FLAG
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec

_ARGS = "spec.engineOptions.args"
_ENV = "spec.engineOptions.env"
_LONGEST_VALUE = 64
"""Longer than any value that a remedy depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why one argument or variable is refused. `variable` says which of the two `index` counts."""

    reason: Reason
    index: int
    message: str
    variable: bool = False

    @property
    def line(self) -> str:
        """Field and message."""
        return f"{_ENV if self.variable else _ARGS}[{self.index}]: {self.message}"


def check_arguments(engine: Engine, version: EngineVersion, args: Sequence[str], variables: Sequence[str]) -> None:
    """Accept arguments and variables (names) or raise InvalidSpec, with one line for each problem."""
    raise_for(argument_problems(engine, version, args, variables))


def argument_problems(
    engine: Engine, version: EngineVersion, args: Sequence[str], variables: Sequence[str]
) -> list[Problem]:
    """What is owned by the operator, or in a form that the engine does not read."""
    return [*_arguments(engine, version, args), *_variables(engine, variables)]


def raise_for(problems: Sequence[Problem]) -> None:
    """Raise InvalidSpec where there are problems: one line for each, in the order of the spec."""
    if problems:
        ordered = sorted(problems, key=lambda problem: (problem.variable, problem.index))
        raise InvalidSpec(ordered[0].reason, "\n".join(problem.line for problem in ordered))


def flag_of(argument: str) -> str:
    """The flag an argument sets, normalised; empty for a plain value.

    | written            | flag         |
    |--------------------|--------------|
    | `--ctx_size=4096`  | `--ctx-size` |
    | `--ctx-size 4096`  | `--ctx-size` |
    | `--Ctx-Size`       | `--ctx-size` |
    | `-c`               | `-c`         |
    | `4096`, `-`        |              |
    """
    words = argument.partition("=")[0].split(maxsplit=1)
    word = words[0][:LONGEST_FLAG] if words else ""
    if not word.startswith("-") or not word.strip("-"):
        return ""
    return word.lower().replace("_", "-") if word.startswith("--") else word


def owned_flag(engine: Engine, flag: str) -> str:
    """The owned flag that a normalised flag sets; empty for one that the user may set."""
    return next((name for name in _names(engine, flag) if name in engine.owned.flags), "")


def _arguments(engine: Engine, version: EngineVersion, args: Sequence[str]) -> Iterator[Problem]:
    for index, argument in enumerate(args):
        flag = flag_of(argument)
        if owned := owned_flag(engine, flag):
            remedy = _remedy(engine, version, owned, _value(args, index))
            message = f"{owned} is owned by the operator; {remedy}"
            yield Problem(reason=Reason.OWNED_ARGUMENT, index=index, message=message)
        elif problem := _malformed(engine, argument, flag):
            yield Problem(reason=Reason.ENGINE_ARGUMENT_REJECTED, index=index, message=problem)


def _remedy(engine: Engine, version: EngineVersion, owned: str, value: str) -> str:
    usual = engine.owned.flags[owned]
    by_value = engine.owned.by_value.get(usual)
    return (by_value and by_value(version, value)) or usual


def _value(args: Sequence[str], index: int) -> str:
    """The value of the option at a place, cut: in the same word, or the next one."""
    _, equals, attached = args[index][: LONGEST_FLAG + _LONGEST_VALUE].partition("=")
    following = args[index + 1] if index + 1 < len(args) else ""
    return (attached if equals else following)[:_LONGEST_VALUE].strip()


def _names(engine: Engine, flag: str) -> tuple[str, ...]:
    """The flag as written, and as a parser reads it: `--api-key.x` is a part of `--api-key`, `-qawq` is `-q`."""
    return flag, flag.partition(".")[0], *({flag[:2]} & engine.capabilities.glued)


def _malformed(engine: Engine, argument: str, flag: str) -> str:
    if "$(" in _expandable(engine, argument):
        return "$(NAME) would be expanded to a flag that was not checked; write the value instead"
    if flag[:2] in engine.capabilities.glued and flag[2:]:
        return f"{engine.name} reads {flag} as several; write {flag[:2]} and what follows as separate items"
    if engine.capabilities.one_word_arguments and argument.split() != [argument]:
        return f"{engine.name} splits arguments at spaces; write each word as a separate item"
    if flag and "=" in argument and not engine.capabilities.equals_sign:
        return f"{engine.name} does not accept --flag=value; write two items: {flag} and its value"
    return ""


def _expandable(engine: Engine, argument: str) -> str:
    """The part of an argument in which a variable could add a flag: the kubelet expands before the engine parses.

    Behind an equals sign it can only be a value, and so can a word that begins with neither `-` nor `$`; unless the
    entrypoint splits at spaces, which the value of the variable may contain.
    """
    if engine.capabilities.one_word_arguments:
        return argument
    return argument.partition("=")[0] if argument.lstrip()[:1] in {"-", "$"} else ""


def _variables(engine: Engine, names: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if remedy := engine.owned.environment.get(name.upper()):
            message = f"{name} is owned by the operator; {remedy}"
            yield Problem(reason=Reason.OWNED_ARGUMENT, index=index, message=message, variable=True)
