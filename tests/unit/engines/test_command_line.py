"""Which option each word of a command line names, and which words are its values."""

import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from llmservice.engines.command_line import uses_in
from llmservice.engines.engine import Syntax

OPTIONS = {
    spelling: option
    for option in (
        Option(("--seed",), "", Takes.ONE),
        Option(("-tp", "--tensor-size"), "", Takes.ONE),
        Option(("--eager", "--no-eager"), "", Takes.NONE),
        Option(("--names",), "", Takes.MANY),
        Option(("--token",), "", Takes.OPTIONAL),
        Option(("--config-file",), "", Takes.ONE),
        Option(("--range",), "", Takes.TWO),
        Option(("--level-of-all",), "", Takes.ONE),
        Option(("--level-of-all-others",), "", Takes.ONE),
    )
    for spelling in option.spellings
}
ARGPARSE = Syntax(underscores=True, abbreviations=True, parts=True, levels={"-O": "--seed"})
ANY_WORD = Syntax(underscores=True, any_word=True)


def read(syntax: Syntax, *args: str) -> list[tuple[str, Takes | None, int]]:
    """Name, what it takes, how many values it has."""
    return [(use.name, use.takes, use.count) for use in uses_in(args, OPTIONS, syntax)]


@pytest.mark.parametrize(
    ("args", "uses"),
    [
        (["--seed", "1"], [("--seed", Takes.ONE, 1)]),
        (["--seed=1"], [("--seed", Takes.ONE, 1)]),
        (["--seed=-1"], [("--seed", Takes.ONE, 1)]),
        (["--seed", "-1", "--seed", "-.5"], [("--seed", Takes.ONE, 1)] * 2),
        (["--seed", "-"], [("--seed", Takes.ONE, 1)]),
        (["--names", "a", "-b c", '{"d": 1}'], [("--names", Takes.MANY, 3)]),
        (["--seed", "--eager"], [("--seed", Takes.ONE, 0), ("--eager", Takes.NONE, 0)]),
        (["--eager", "true"], [("--eager", Takes.NONE, 1)]),
        (["--tensor_size=2"], [("--tensor_size", Takes.ONE, 1)]),
        (["--tensor", "2"], [("--tensor", Takes.ONE, 1)]),
        (["--tens", "2"], [("--tens", Takes.ONE, 1)]),
        (["--tensor-si", "2", "--tensor-s", "2"], [("--tensor-si", None, 1), ("--tensor-s", Takes.ONE, 1)]),
        (["--level-of", "2"], [("--level-of", None, 1)]),
        (["--level-of-all", "2"], [("--level-of-all", Takes.ONE, 1)]),
        (["--config-file.a.b", "-x"], [("--config-file.a.b", Takes.ONE, 1)]),
        (["--config-file.a_b+=x"], [("--config-file.a_b+", Takes.ONE, 1)]),
        (["--config.a=1", "--eager.a=1"], [("--config.a", Takes.ONE, 1), ("--eager.a", None, 1)]),
        (
            ["-O3", "-O=3", "-O.level=3", "-O", "3"],
            [("-O3", Takes.ONE, 1), ("-O", Takes.ONE, 1), ("-O.level", Takes.ONE, 1), ("-O", Takes.ONE, 1)],
        ),
        (["-tp=2", "-tp", "2"], [("-tp", Takes.ONE, 1)] * 2),
        (["stray"], [("", Takes.NONE, 1)]),
        (["--seed 1"], [("--seed 1", None, 0)]),
    ],
)
def test_words_are_read_as_argparse_does(args: list[str], uses: list[tuple[str, Takes | None, int]]) -> None:
    assert read(ARGPARSE, *args) == uses


def test_behind_an_equals_sign_stands_one_value() -> None:
    (listed, attached) = uses_in(["--names", "a", "b", "--names=a", "b"], OPTIONS, ARGPARSE)
    assert (listed.most, listed.fits) == (None, True)
    assert (attached.most, attached.fits) == (1, False)


@pytest.mark.parametrize(
    ("args", "uses"),
    [
        (["--seed", "-x"], [("--seed", Takes.ONE, 1)]),
        (["--seed", "--eager"], [("--seed", Takes.ONE, 0), ("--eager", Takes.NONE, 0)]),
        (["--range", "-1", "-x", "--eager"], [("--range", Takes.TWO, 2), ("--eager", Takes.NONE, 0)]),
        (["--seed", "-x", "-y"], [("--seed", Takes.ONE, 1), ("-y", None, 0)]),
        (["--tensor", "2"], [("--tensor", None, 1)]),
        (["-O3"], [("-O3", None, 0)]),
    ],
)
def test_where_any_word_is_a_value_only_an_option_is_none(
    args: list[str], uses: list[tuple[str, Takes | None, int]]
) -> None:
    assert read(ANY_WORD, *args) == uses


def test_a_long_word_is_cut_before_it_is_compared() -> None:
    (use,) = uses_in(["--" + "x" * 8000], OPTIONS, ARGPARSE)
    assert (len(use.name), use.takes) == (129, None)
