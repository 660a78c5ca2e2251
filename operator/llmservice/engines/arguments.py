"""Checks of the user's arguments and environment: what the operator owns, and what the engine accepts."""

from collections.abc import Iterator, Mapping, Sequence

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec

_ARGS = "spec.engineOptions.args"
_ENV = "spec.engineOptions.env"
_LONGEST_FLAG = 128
"""Longer than any engine's flag; limits what an error message repeats."""


def check_arguments(engine: Engine, removed: Mapping[str, str], args: Sequence[str], variables: Sequence[str]) -> None:
    """Accept arguments and variables or raise InvalidSpec, with one line for each problem.

    `removed` maps flags that this version no longer has to their replacement; `variables` are names.
    """
    problems = [*_arguments(engine, removed, args), *_variables(engine, variables)]
    if problems:
        raise InvalidSpec(problems[0][0], "\n".join(f"{field}: {message}" for _, field, message in problems))


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
    word = words[0][:_LONGEST_FLAG] if words else ""
    if not word.startswith("-") or not word.strip("-"):
        return ""
    return word.lower().replace("_", "-") if word.startswith("--") else word


Problem = tuple[Reason, str, str]


def _arguments(engine: Engine, removed: Mapping[str, str], args: Sequence[str]) -> Iterator[Problem]:
    for index, argument in enumerate(args):
        field, flag = f"{_ARGS}[{index}]", flag_of(argument)
        owned = next((name for name in _names(engine, flag) if name in engine.owned.flags), "")
        if owned:
            yield Reason.OWNED_ARGUMENT, field, f"{owned} is owned by the operator; {engine.owned.flags[owned]}"
        elif flag in removed:
            yield Reason.ENGINE_ARGUMENT_REJECTED, field, f"{flag} was removed from this version; {removed[flag]}"
        elif problem := _malformed(engine, argument, flag):
            yield Reason.ENGINE_ARGUMENT_REJECTED, field, problem


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
            yield Reason.OWNED_ARGUMENT, f"{_ENV}[{index}]", f"{name} is owned by the operator; {remedy}"
