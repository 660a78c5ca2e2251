"""Users' arguments and variables: each spelling of what is owned is refused by name."""

from dataclasses import dataclass
from typing import Any

import pytest

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.arguments import check_arguments, flag_of
from llmservice.engines.engine import Capabilities, Engine, Launch, LogPattern, OwnedArguments, ServingRequest
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.errors import InvalidSpec

OWNED = OwnedArguments(
    flags={"--ctx-size": "use spec.maxModelLen", "-c": "use spec.maxModelLen"},
    environment={"ENGINE_CTX_SIZE": "use spec.maxModelLen"},
)

A_VERSION = EngineVersion(
    engine="fourth", version="1.0", images={}, user=1, group=1, max_model_len=1, max_num_seqs=1, removed={}
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

    def start_times(self, log: TimedLog) -> StartTimes:
        raise NotImplementedError


def an_engine(**capabilities: Any) -> Engine:
    return AnEngine(Capabilities(schemes=frozenset(), **capabilities))


def refusal(*args: str, engine: Engine | None = None, variables: tuple[str, ...] = ()) -> InvalidSpec:
    with pytest.raises(InvalidSpec) as caught:
        check_arguments(engine or an_engine(), A_VERSION, args, variables)
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


def test_a_remedy_may_depend_on_the_value_wherever_that_stands() -> None:
    owned = OwnedArguments(
        flags={"--ctx-size": "use spec.maxModelLen", "-c": "use spec.maxModelLen"},
        environment={},
        by_value={"use spec.maxModelLen": lambda version, value: f"use {version.version}:{value}" if value else ""},
    )
    engine = AnEngine(Capabilities(schemes=frozenset()), owned=owned)
    for args in (("--ctx-size=5",), ("-c", "5"), ("-c", " 5 ")):
        assert "use 1.0:5" in str(refusal(*args, engine=engine))
    assert "use spec.maxModelLen" in str(refusal("-c", engine=engine))


def test_problems_are_listed_in_the_order_of_the_spec() -> None:
    error = refusal("--threads=1", "-c", variables=("ENGINE_CTX_SIZE",), engine=an_engine(equals_sign=False))
    assert error.reason == "EngineArgumentRejected"
    assert [line.partition(": ")[0] for line in str(error).splitlines()] == [
        "spec.engineOptions.args[0]",
        "spec.engineOptions.args[1]",
        "spec.engineOptions.env[0]",
    ]


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
    check_arguments(an_engine(), A_VERSION, ["-cb", "-c4096"], [])


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
    check_arguments(an_engine(), A_VERSION, ["--seed=$(SEED)", "--limits", '{"images": "$(IMAGES)"}'], [])


def test_what_nobody_owns_passes() -> None:
    check_arguments(an_engine(), A_VERSION, ["--threads", "8", "--grammar=a b", "plain"], ["OTHER"])
