"""What the one place for patterns promises."""

import pytest

from llmservice.untrusted.patterns import compiled, finder, together


def test_a_match_has_its_groups_and_its_line() -> None:
    match = compiled(r"secret (?P<name>\S+)(?P<other>x)? not found").first("one\n  secret é\udcff not found \nthree")
    assert match is not None
    assert match.groups() == {"name": "é?", "other": ""}
    assert match.line() == "secret é? not found"


def test_a_form_is_that_of_the_whole_text() -> None:
    form = compiled(r"[a-z]+|[0-9]")
    assert [form.matches(text) for text in ("abc", "7", "77", "abc\n", "")] == [True, True, False, False, False]


def test_lines_begin_anywhere() -> None:
    assert compiled(r"^b$").is_in("a\nb\nc")


def test_what_is_replaced_leaves_its_beginning_and_its_end() -> None:
    found = finder(r"(?P<kept>a)\w+(?P<tail>!)")
    assert found.replace("é axx! ay! a", "-") == "é a-! a-! a"


def test_every_match_is_found() -> None:
    assert [match["x"] for match in finder(r"(?P<x>[0-9])").each("a1b2")] == ["1", "2"]


@pytest.mark.parametrize("pattern", [r"a(?=b)", r"(a)\1", r"a{2000}"])
def test_what_takes_more_than_linear_time_is_no_pattern(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no pattern for RE2"):
        compiled(pattern)


def test_a_match_of_what_is_ordinary_stays_and_the_next_one_is_replaced() -> None:
    found = finder(r"(?P<ordinary>key=none)|(?P<kept>key=)\w+")
    assert found.replace("key=none key=abc key=none", "#") == "key=none key=# key=none"


def test_patterns_together_are_found_where_each_alone_is() -> None:
    """More than are looked for in one pass."""
    patterns = [compiled(rf"^n{number}$|x{number}y") for number in range(40)]
    assert together(patterns).which("n7\nx39y x3y\n n5\n\udcff") == (3, 7, 39)
    assert together(patterns).which("") == ()
    assert together([]).which("x1y") == ()
