r"""Every pattern that meets what strangers write: RE2, which takes linear time whatever the text says.

Its syntax is that of `re` without look-around and back-references; `\w`, `\d`, `\s` and `\b` know ASCII only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import re2  # type: ignore[import-untyped]  # it has no types; nobody else imports it

_MOST_CACHE_BYTES = 2**20
"""Of one pattern, for what it learns of a text; all patterns together stay below 100 MiB, however odd the texts."""

_BLOCK = 16
"""Patterns that are looked for in one pass."""
_MOST_BLOCK_BYTES = 2**21
"""The same as for one pattern, of a block."""

_KEPT = "kept"
_TAIL = "tail"
_ORDINARY = "ordinary"

_every: list["Pattern"] = []


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern was found. Groups are read by name."""

    text: bytes
    found: Any
    names: Mapping[str, int]

    def __getitem__(self, group: str) -> str:
        """What a group matched; empty where it took no part."""
        matched: bytes | None = self.found[self.names[group]]
        return matched.decode() if matched else ""

    def groups(self) -> dict[str, str]:
        """Every group by its name; empty where it took no part."""
        return {name: self[name] for name in self.names}

    def line_number(self) -> int:
        """In which line the match begins; the first one is 0."""
        return self.text.count(b"\n", 0, self.found.start())

    def line(self) -> str:
        """The line in which the match begins, without white space around it."""
        begin = self.text.rfind(b"\n", 0, self.found.start()) + 1
        end = self.text.find(b"\n", self.found.start())
        return self.text[begin : end if end >= 0 else None].decode().strip()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that is looked for once in a text of any kind; halves of a letter count as question marks."""

    written: str
    engine: Any = field(compare=False)
    names: Mapping[str, int] = field(compare=False)

    def matches(self, text: str) -> bool:
        """Whether the whole text has this form."""
        return self.engine.fullmatch(_utf8(text)) is not None

    def is_in(self, text: str) -> bool:
        """Whether the text holds it anywhere."""
        return self.engine.search(_utf8(text)) is not None

    def whole(self, text: str) -> Match | None:
        """The match of the whole text; None where it has not this form."""
        data = _utf8(text)
        found = self.engine.fullmatch(data)
        return Match(data, found, self.names) if found else None

    def first(self, text: str) -> Match | None:
        """The first match; None where there is none."""
        data = _utf8(text)
        found = self.engine.search(data)
        return Match(data, found, self.names) if found else None


@dataclass(frozen=True, slots=True)
class Finder(Pattern):
    """A pattern that finds every place where it matches. Made by `finder`."""

    def each(self, text: str) -> Iterator[Match]:
        """Every match, from the beginning."""
        data = _utf8(text)
        return (Match(data, found, self.names) for found in self.engine.finditer(data))

    def replace(self, text: str, by: str) -> str:
        """The text with every match replaced, but for its groups `kept` (at its beginning) and `tail` (at its end).

        A match of the group `ordinary` stays as it is.
        """
        data, marker, end = _utf8(text), by.encode(), 0
        parts: list[bytes] = []
        for found in self.engine.finditer(data):
            if self._is_ordinary(found):
                continue
            parts += (data[end : self._begin(found)], marker)
            end = self._end(found)
        if not parts:
            return text
        return b"".join((*parts, data[end:])).decode()

    def _is_ordinary(self, found: Any) -> bool:
        return _ORDINARY in self.names and int(found.start(self.names[_ORDINARY])) >= 0

    def _begin(self, found: Any) -> int:
        return int(found.end(self.names[_KEPT]) if _KEPT in self.names else found.start())

    def _end(self, found: Any) -> int:
        return int(found.start(self.names[_TAIL]) if _TAIL in self.names else found.end())


@dataclass(frozen=True, slots=True)
class PatternSet:
    """Patterns that are looked for in a few passes over a text, one for each block. Made by `together`."""

    blocks: tuple[Any, ...]

    def which(self, text: str) -> tuple[int, ...]:
        """The positions of all patterns that are in the text, in order."""
        data = _utf8(text)
        found = enumerate(block.Match(data) or () for block in self.blocks)
        return tuple(sorted(number * _BLOCK + at for number, places in found for at in places))


def together(patterns: Sequence[Pattern]) -> PatternSet:
    """A set of patterns; it costs far more to make than to use.

    In blocks: one pass for all of them would be faster over an ordinary text, and ten times slower over one that was
    written to have many of them begin at once.
    """
    return PatternSet(tuple(_block(patterns[at : at + _BLOCK]) for at in range(0, len(patterns), _BLOCK)))


def _block(patterns: Sequence[Pattern]) -> Any:
    made = re2.Set.SearchSet(_options(_MOST_BLOCK_BYTES))
    for pattern in patterns:
        made.Add(f"(?m){pattern.written}".encode())
    made.Compile()
    return made


def compiled(pattern: str) -> Pattern:
    """The pattern, ready to be used; `^` and `$` are those of a line. Groups are captured only where they have names.

    For the beginning of a module: it costs far more than to use it. Raises ValueError for what RE2 cannot do.
    """
    made = Pattern(pattern, *_engine(pattern))
    _every.append(made)
    return made


def finder(pattern: str) -> Finder:
    """Like `compiled`, to find all matches.

    RE2 is linear for one match. For all of them a pattern must not look far beyond the end of what it finds, as
    `a|a.*b` does; each finder is held to that by a test.
    """
    made = Finder(pattern, *_engine(pattern))
    _every.append(made)
    return made


def every_pattern() -> tuple[Pattern, ...]:
    """All that were made so far."""
    return tuple(_every)


def _engine(pattern: str) -> tuple[Any, Mapping[str, int]]:
    """RE2's form of a pattern, and the numbers of its named groups."""
    options = _options(_MOST_CACHE_BYTES)
    options.never_capture = "(?P<" not in pattern
    try:
        engine = re2.compile(f"(?m){pattern}".encode(), options)
    except re2.error as error:
        raise ValueError(f"{pattern!r} is no pattern for RE2: {error}") from error
    return engine, {name.decode(): number for name, number in engine.groupindex.items()}


def _options(most_bytes: int) -> Any:
    options = re2.Options()
    options.max_mem = most_bytes
    options.log_errors = False
    return options


def _utf8(text: str) -> bytes:
    return text.encode(errors="replace")
