"""Users' arguments and variables: each spelling of what is owned is refused by name."""

from dataclasses import dataclass
from typing import Any

import pytest

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.arguments import check_arguments, flag_of
from llmservice.engines.engine import Capabilities, Engine, Launch, LogPattern, OwnedArguments, ServingRequest
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.start_report import StartReport
from llmservice.errors import InvalidSpec

OWNED = OwnedArguments(
    flags={"--ctx-size": "use spec.maxModelLen", "-c": "use spec.maxModelLen"},
    environment={"ENGINE_CTX_SIZE": "use spec.maxModelLen"},
)


@dataclass(frozen=True)
class AnEngine:
    capabilities: Capabilities
    name: str = "fourth"
    owned: OwnedArguments = OWNED
    flags: frozenset[str] = frozenset()
    log_patterns: tuple[LogPattern, ...] = ()

    def launch(self, request: ServingRequest) -> Launch:
        raise NotImplementedError

    def metric_names(self, version: EngineVersion) -> MetricNames:
        raise NotImplementedError

    def start_report(self, text: str) -> StartReport:
        raise NotImplementedError


def an_engine(**capabilities: Any) -> Engine:
    return AnEngine(Capabilities(schemes=frozenset(), **capabilities))


def refusal(*args: str, engine: Engine | None = None, variables: tuple[str, ...] = ()) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as caught:
        check_arguments(engine or an_engine(), {"--old": "use --new"}, args, variables)
    return caught.value


@pytest.mark.parametrize(
    ("argument", "flag"),
    [
        ("--ctx-size", "--ctx-size"),
        ("--ctx-size=4096", "--ctx-size"),
        ("--ctx_size=4096", "--ctx-size"),
        ("--ctx-size 4096", "--ctx-size"),
        ("--Ctx-Size", "--ctx-size"),
        ("-c", "-c"),
        ("-C", "-C"),
        ("4096", ""),
        ("-", ""),
        ("--", ""),
        (" ", ""),
        ("", ""),
        ("=", ""),
        (" =x", ""),
    ],
)
def test_a_flag_is_found_in_each_spelling(argument: str, flag: str) -> None:
    assert flag_of(argument) == flag


def test_an_owned_flag_is_refused_with_its_place_and_the_field_to_use() -> None:
    error = refusal("--threads", "8", "--ctx_size=4096")
    assert error.reason == "OwnedArgument"
    assert str(error).startswith("spec.engineOptions.args[2]: --ctx-size ")
    assert "spec.maxModelLen" in str(error)


def test_an_owned_variable_is_refused_whatever_its_case() -> None:
    error = refusal(variables=("OTHER", "engine_ctx_size"))
    assert error.reason == "OwnedArgument"
    assert str(error).startswith("spec.engineOptions.env[1]: engine_ctx_size ")


def test_every_problem_has_a_line_of_its_own() -> None:
    assert len(str(refusal("-c", "--ctx-size", variables=("ENGINE_CTX_SIZE",))).splitlines()) == 3


def test_a_flag_that_is_gone_is_refused_with_what_replaced_it() -> None:
    error = refusal("--old=1")
    assert error.reason == "EngineArgumentRejected"
    assert "--old" in str(error)
    assert "use --new" in str(error)


def test_an_equals_sign_is_refused_where_the_engine_does_not_take_it() -> None:
    error = refusal("--threads=8", engine=an_engine(equals_sign=False))
    assert error.reason == "EngineArgumentRejected"
    assert "--threads" in str(error)


def test_spaces_are_refused_where_the_entrypoint_splits_at_them() -> None:
    error = refusal("--x", "two words", engine=an_engine(one_word_arguments=True))
    assert error.reason == "EngineArgumentRejected"
    assert str(error).startswith("spec.engineOptions.args[1]: ")


@pytest.mark.parametrize(
    "argument",
    ["-c4096", "--ctx-size.x=1", "-c.x", "-c=4096"],
    ids=["glued", "a part", "a part of a short one", "equals"],
)
def test_an_owned_flag_is_found_in_what_a_parser_makes_of_a_word(argument: str) -> None:
    assert refusal(argument, engine=an_engine(glued=frozenset({"-c"}))).reason == "OwnedArgument"


def test_a_word_of_several_short_options_is_refused_where_the_engine_takes_it() -> None:
    error = refusal("-ec4096", engine=an_engine(glued=frozenset({"-e"})))
    assert error.reason == "EngineArgumentRejected"
    assert {"-ec4096", "-e"} <= set(str(error).replace(";", " ").split())


def test_a_short_option_that_takes_nothing_glued_may_begin_a_longer_one() -> None:
    check_arguments(an_engine(), {}, ["-cb", "-c4096"], [])


@pytest.mark.parametrize(
    "argument", ["$(FLAG)", " $(FLAG)", "$(NONE)--ctx-size=1", "--$(FLAG)=1", "--x$(FLAG)", "$$(X)"]
)
def test_a_variable_where_a_flag_could_be_is_refused(argument: str) -> None:
    error = refusal(argument)
    assert error.reason == "EngineArgumentRejected"
    assert "$(NAME)" in str(error)


def test_a_variable_is_refused_anywhere_where_the_entrypoint_splits_at_spaces() -> None:
    engine = an_engine(one_word_arguments=True)
    assert [str(refusal(word, engine=engine)).count("$(NAME)") for word in ("--seed=$(X)", "a$(X)")] == [1, 1]


def test_a_variable_in_a_value_passes() -> None:
    check_arguments(an_engine(), {}, ["--seed=$(SEED)", "--limits", '{"images": "$(IMAGES)"}'], [])


def test_what_nobody_owns_passes() -> None:
    check_arguments(an_engine(), {}, ["--threads", "8", "--grammar=a b", "plain"], ["OTHER"])
