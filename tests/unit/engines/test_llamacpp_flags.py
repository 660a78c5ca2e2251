"""What llama.cpp itself says of the flags that the operator owns, in every version of the catalogue."""

from importlib.resources import files

import pytest

from llmservice.catalog.recorded_flags import Option, recorded_options
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP

FLAGS = files("llmservice.catalog").joinpath("flags")
RECORDED = {
    build: FLAGS.joinpath(f"llamacpp-{build}.txt").read_text("utf-8") for build in ("b9445", "b10454", "b11312")
}
OPTIONS = [option for text in RECORDED.values() for option in recorded_options(text)]
OWNED = LLAMACPP.owned


def owned_options() -> list[Option]:
    return [option for option in OPTIONS if any(spelling in OWNED.flags for spelling in option.spellings)]


def test_an_owned_option_is_owned_in_every_spelling() -> None:
    spellings = [spelling for option in owned_options() for spelling in option.spellings]
    assert len(spellings) > 60
    assert [spelling for spelling in spellings if spelling not in OWNED.flags] == []


def test_an_owned_option_is_owned_as_a_variable_too() -> None:
    variables = [option.variable for option in owned_options() if option.variable]
    assert [variable for variable in variables if variable not in OWNED.environment] == []


def test_an_option_with_a_negative_is_owned_as_a_negated_variable_too() -> None:
    """LLAMA_ARG_NO_X is read for every option that has a negative spelling (common/arg.cpp, get_value_from_env)."""
    negated = [
        option.variable.replace("LLAMA_ARG_", "LLAMA_ARG_NO_")
        for option in owned_options()
        if option.variable and any(spelling.startswith(("--no-", "-no-")) for spelling in option.spellings)
    ]
    assert len(negated) >= 4
    assert [variable for variable in negated if variable not in OWNED.environment] == []


@pytest.mark.parametrize("kind", ["flags", "environment"])
def test_nothing_is_owned_that_no_version_has(kind: str) -> None:
    known = {word for option in OPTIONS for word in (*option.spellings, option.variable)}
    read_elsewhere = {"LLAMA_CACHE"}
    unknown = [
        name
        for name in getattr(OWNED, kind)
        if name not in known | read_elsewhere and not name.startswith("AIP_") and "_NO_" not in name
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("build", "unknown"),
    [("b9445", {"--kv-unified-per-slot"}), ("b10454", {"--kv-unified-per-slot"}), ("b11312", set())],
)
def test_every_flag_that_is_rendered_is_known_except_the_exact_cap_of_a_slot(build: str, unknown: set[str]) -> None:
    known = {spelling for option in recorded_options(RECORDED[build]) for spelling in option.spellings}
    assert LLAMACPP.flags - known == unknown


def test_no_flag_that_is_rendered_overrides_a_variable_that_users_may_set() -> None:
    """In llama.cpp an argument wins over its variable: the variable would be taken and do nothing."""
    rendered = [option for option in OPTIONS if LLAMACPP.flags & set(option.spellings)]
    assert {option.variable for option in rendered if option.variable} - OWNED.environment.keys() == set()
