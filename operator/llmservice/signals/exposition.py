"""The text format of Prometheus. Only the wanted series are parsed: a full parser costs ten times as much.

Format: prometheus.io/docs/instrumenting/exposition_formats, and OpenMetrics' exemplars behind a value. The page is
untrusted: no regular expression runs over it, one line is in memory at a time, and lines, labels and values are bounded
in length.
"""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from math import isnan, nan

from llmservice.signals.samples import Sample, Samples
from llmservice.untrusted.texts import cut, printable

LONGEST_LINE = 16_384
"""Bytes. The longest of an engine, its whole configuration as labels, has two thousand."""

MOST_LINES = 50_000
"""Of a page; vLLM's has some hundreds, and as many again for each data-parallel engine behind it."""

_LONGEST_LABEL = 128
_LONGEST_NUMBER = 64
_QUOTED = ((b"\\\\", b"\x00", b"\\"), (b'\\"', b"\x01", b'"'))
"""Escapes in a label's value: as written, as a character that nobody writes, as meant."""


def scan(page: bytes, wanted: Mapping[str, str]) -> Samples:
    """The samples of the wanted names, `wanted` being name → label to read (empty: none).

    A value that is no number reads as NaN, and so does every line that is too long. The last line counts only if it is
    whole, and of a page that `has_too_many_lines` only the beginning.
    """
    labels = {name.encode(): label.encode() for name, label in wanted.items()}
    found: dict[str, list[Sample]] = {}
    for line in _whole_lines(page):
        if line.startswith(b"#"):
            continue
        name, brace, _ = line.partition(b"{")
        if not brace:
            name = line.split(None, 1)[0] if line.strip() else b""
        if name in labels:
            found.setdefault(name.decode(), []).append(_sample(line, len(name), labels[name]))
    return found


def has_too_many_lines(page: bytes) -> bool:
    """Whether the page is cut off, so that no sum over it can be trusted."""
    return page.count(b"\n") > MOST_LINES


def names_in(page: bytes) -> frozenset[str]:
    """The names of all samples."""
    return frozenset(_names(page))


def has_samples(page: bytes) -> bool:
    """Whether a text is an exposition at all; an empty one is."""
    return not page.strip() or next(_names(page + b"\n"), None) is not None


def _whole_lines(page: bytes) -> Iterator[bytes]:
    return (line for line in islice(BytesIO(page), MOST_LINES) if line.endswith(b"\n"))


def _names(page: bytes) -> Iterator[str]:
    for line in _whole_lines(page):
        name = line.partition(b"{")[0].split(None, 1)[:1]
        if name and line.startswith(name[0]) and _is_name(name[0]) and _has_value(line, len(name[0])):
            yield name[0].decode()


def _is_name(word: bytes) -> bool:
    return word.isascii() and word.replace(b":", b"_").decode().isidentifier()


def _has_value(line: bytes, end: int) -> bool:
    tail = _parts_of(line, end)[1].split(None, 1)[:1]
    return bool(tail) and (tail[0] == b"NaN" or not isnan(_number(tail[0])))


def _sample(line: bytes, end: int, label: bytes) -> Sample:
    """Value and label of a line whose name has this end; what follows the value is a timestamp or an exemplar."""
    labels, tail = _parts_of(line, end)
    word = tail.split(None, 1)[:1]
    return Sample(_value_of(label, labels) if label else "", _number(word[0]) if word else nan)


def _parts_of(line: bytes, end: int) -> tuple[Sequence[bytes], bytes]:
    """The label set behind a name of this end, in pieces before and in quotes by turns, and what comes after it."""
    if len(line) > LONGEST_LINE:
        return (), b""
    if line[end : end + 1] != b"{":
        return (), line[end:]
    text = line[end + 1 :]
    for written, letter, _ in _QUOTED if b"\\" in text else ():
        text = text.replace(written, letter)
    pieces = text.split(b'"')
    for index in range(0, len(pieces), 2):
        before, brace, tail = pieces[index].partition(b"}")
        if brace:
            return (*pieces[:index], before), tail
    return (), b""


def _value_of(label: bytes, pieces: Sequence[bytes]) -> str:
    """The value of a label, as it is meant; empty where the label is not there."""
    for name, value in zip(pieces[::2], pieces[1::2], strict=False):
        if name.strip(b" \t,").removesuffix(b"=").rstrip() == label:
            for _, letter, meant in _QUOTED:
                value = value.replace(letter, meant)  # noqa: PLW2901  (one replacement after the other)
            return cut(printable(value), _LONGEST_LABEL)
    return ""


def _number(word: bytes) -> float:
    if len(word) > _LONGEST_NUMBER:
        return nan
    try:
        return float(word)
    except ValueError:
        return nan
