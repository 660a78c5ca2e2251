"""Texts that a stranger would write to make a reader slow: made from its patterns, and from what it looks for."""

import re._parser as sre  # type: ignore[import-not-found]  # the library's own reader of patterns has no types
import string
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_LETTERS = "aAek0" + string.printable
PIECES = (
    *("-", "#", "@", "--", "://", "://a:", "a@", "eyJ", "eyJa.", "--token ", "token=", "Bearer ", "prompt: '"),
    *(
        "content=[",
        'content="\\',
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "hf_",
        "?sig=",
        "Cookie:",
    ),
    *("Error: ", "Error: See root cause above", 'm{le="', 'm{le="1"} 1 #', 'm{le="\\', "m 1\n", "m{", "#\n", "m{}\n"),
    *(
        "secret ",
        'secret "',
        "couldn't find key k in Secret ",
        "file '",
        "error: ",
        "buffer",
        "--config=$(",
        "; a: b: ",
    ),
    *(
        "\x1b[31m",
        "\x1b[",
        "\x00",
        "\u202e",
        "\ud800",
        "\udcff",
        "a ",
        "\n",
        "\\",
        '"',
        "'",
        "{",
        "[",
        "1e",
        "0.",
        "Ki",
    ),
)
"""What the readers of the operator look for, and what no reader expects."""


def repeated(piece: str, size: int) -> str:
    """A text of exactly this many characters that says the same again and again."""
    return (piece * (size // len(piece) + 1))[:size]


def pieces_of(pattern: str) -> list[str]:
    """What makes a pattern begin again and again: a text it matches, the same without its end, its literals."""
    parsed = sre.parse(pattern.replace(r"\z", r"\Z"))
    example = "".join(_example(parsed))
    beginnings = [example[:end] for end in _lengths(len(example))]
    literals = [word for word in _literals(parsed) if word]
    return list(dict.fromkeys([*beginnings, *(f"{each} " for each in beginnings), *literals[:8]]))


def _literals(parsed: Any) -> Iterator[str]:
    """Runs of literals anywhere in a pattern."""
    run = ""
    for kind, value in _flat(parsed):
        if str(kind) == "LITERAL":
            run += chr(value)
        else:
            yield run
            run = ""
    yield run


def _lengths(whole: int) -> tuple[int, ...]:
    return tuple(sorted({length for length in (1, whole // 4, whole // 2, whole - 1, whole) if length > 0}))


def _flat(parsed: Any) -> Iterator[tuple[Any, Any]]:
    for kind, value in parsed:
        yield kind, value
        for below in _below(value):
            yield from _flat(below)


def _below(value: Any) -> Iterator[Any]:
    if isinstance(value, sre.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _below(item)


def _example(parsed: Any) -> Iterator[str]:
    """A text that the pattern matches, with its repetitions three times where they may be."""
    for kind, value in parsed:
        match str(kind):
            case "LITERAL" | "NOT_LITERAL" | "ANY":
                yield chr(value) if str(kind) == "LITERAL" else "A"
            case "IN":
                yield _letter(value)
            case "SUBPATTERN":
                yield from _example(value[-1])
            case "BRANCH":
                yield from _example(value[1][0])
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, below = value
                yield "".join(_example(below)) * max(least, min(int(most), 3))


def _letter(members: Any) -> str:
    """A letter of a class."""
    turned = str(members[0][0]) == "NEGATE"
    return next(letter for letter in _LETTERS if turned != any(_holds(ord(letter), *member) for member in members))


def _holds(code: int, kind: Any, value: Any) -> bool:
    match str(kind):
        case "LITERAL":
            return bool(code == value)
        case "RANGE":
            return bool(value[0] <= code <= value[1])
        case "CATEGORY":
            return _CATEGORIES[str(value)](chr(code))
    return False


_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "CATEGORY_WORD": lambda letter: letter.isalnum() or letter == "_",
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda letter: not letter.isspace(),
}
