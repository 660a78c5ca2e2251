"""Tables: aligned columns, and cells that stay on their line."""

from llmservice.untrusted.tables import table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table([("NAME", "COUNT", "WHERE"), ("a-long-name", 7, "x"), ("b", 1234, "")], right={1}) == [
        "NAME         COUNT  WHERE",
        "a-long-name      7  x",
        "b             1234  -",
    ]


def test_no_cell_leaves_its_line_or_steers_the_terminal() -> None:
    (line,) = table([("a\nb", "\x1b[31mred\x1b[0m", "x" * 5000)])
    assert line.startswith("a b  red  xxx")
    assert len(line) < 1200


def test_what_is_painted_is_as_wide_as_its_text() -> None:
    lines = table([("a", "b"), ("abc", "d")], paint=lambda text, _: f"<{text}>")
    assert lines == ["<a>    <b>", "<abc>  <d>"]
