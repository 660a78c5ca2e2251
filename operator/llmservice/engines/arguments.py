"""Users' own arguments and variables, held against what the operator owns and what the engine takes."""

from collections.abc import Iterator, Mapping, Sequence

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec

_ARGS = "spec.engineOptions.args"
_ENV = "spec.engineOptions.env"


def check_arguments(engine: Engine, removed: Mapping[str, str], args: Sequence[str], variables: Sequence[str]) -> None:
    """Pass what the engine may get; raises InvalidSpec with one line for each problem.

    `removed` maps flags that the version no longer has to what to write instead; `variables` are names.
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
    word = argument.split("=", 1)[0].split(maxsplit=1)[0] if argument.strip() else ""
    if not word.startswith("-") or not word.strip("-"):
        return ""
    return word.lower().replace("_", "-") if word.startswith("--") else word


Problem = tuple[Reason, str, str]


def _arguments(engine: Engine, removed: Mapping[str, str], args: Sequence[str]) -> Iterator[Problem]:
    for index, argument in enumerate(args):
        field, flag = f"{_ARGS}[{index}]", flag_of(argument)
        if flag in engine.owned.flags:
            yield Reason.OWNED_ARGUMENT, field, f"{flag} is owned by the operator; {engine.owned.flags[flag]}"
        elif flag in removed:
            yield Reason.ENGINE_ARGUMENT_REJECTED, field, f"{flag} is no longer known to this version; {removed[flag]}"
        elif problem := _misshapen(engine, argument, flag):
            yield Reason.ENGINE_ARGUMENT_REJECTED, field, problem


def _misshapen(engine: Engine, argument: str, flag: str) -> str:
    if engine.capabilities.one_word_arguments and argument.split() != [argument]:
        return f"{engine.name} splits arguments at spaces; write each word as an item of its own, without spaces in it"
    if flag and "=" in argument and not engine.capabilities.equals_sign:
        return f"{engine.name} does not take --flag=value; write two items: {flag} and its value"
    return ""


def _variables(engine: Engine, names: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if remedy := engine.owned.environment.get(name.upper()):
            yield Reason.OWNED_ARGUMENT, f"{_ENV}[{index}]", f"{name} is owned by the operator; {remedy}"
