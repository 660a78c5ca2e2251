"""The header of a GGUF file, version 2 and 3: what it says in keys, and what tensors there are.

The format is ggml's (docs/gguf.md). Memory is bounded: of an array of texts, such as the vocabulary, only the length
stays. Time is linear in the bytes that were given.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.models.plausible import MalformedModel, limit_of

MOST_HEADER_BYTES = 32 * 2**20
"""A vocabulary of 262,144 tokens with scores and merges takes 15 MB."""
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_KEYS = 4096
_MOST_TENSORS = 65_536
_LONGEST_NAME = 1024
_LONGEST_KEPT_TEXT = 256
_LONGEST_KEPT_ARRAY = 1024
"""Arrays of numbers up to this are kept: one for each layer."""
_MOST_DIMENSIONS = 4
_TEXT, _ARRAY = 8, 9
_NUMBERS: Mapping[int, struct.Struct] = {
    kind: struct.Struct(f"<{letter}")
    for kind, letter in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        7: "?",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
_UINT32, _UINT64 = _NUMBERS[4], _NUMBERS[10]


class TruncatedHeader(Exception):
    """The bytes end before the header does: give it more of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """`values` are numbers and short texts, lists of numbers for short arrays; `lengths` those of all arrays.

    `parameters` counts the values of the tensors in this file, which of a split model is one of several.
    """

    values: Mapping[str, Any]
    lengths: Mapping[str, int]
    tensors: frozenset[str]
    parameters: int


@dataclass(slots=True)
class _Cursor:
    """A place in the bytes; never goes beyond their end."""

    data: bytes | bytearray
    place: int = 0

    def skip(self, size: int) -> int:
        """Go on, and say where it was."""
        begin = self.place
        if size > MOST_HEADER_BYTES:
            raise MalformedModel(f"a GGUF header cannot hold {size} bytes in one value")
        if begin + size > len(self.data):
            raise TruncatedHeader
        self.place += size
        return begin

    def number(self, kind: struct.Struct) -> Any:
        return kind.unpack_from(self.data, self.skip(kind.size))[0]

    def text(self, keep: int) -> str:
        """A text, or its first `keep` bytes."""
        size = self.number(_UINT64)
        begin = self.skip(size)
        return self.data[begin : begin + min(size, keep)].decode(errors="replace")

    def name(self) -> str:
        size = _UINT64.unpack_from(self.data, self.place)[0] if self.place + 8 <= len(self.data) else 0
        if size > _LONGEST_NAME:
            raise MalformedModel(f"a GGUF header has a name of {size} bytes")
        return self.text(_LONGEST_NAME)


@dataclass(slots=True)
class _Found:
    values: dict[str, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)


def read_gguf_header(data: bytes | bytearray) -> GgufHeader:
    """The header at the beginning of `data`; raises TruncatedHeader and MalformedModel."""
    cursor = _Cursor(data)
    tensors, keys = _counts(cursor)
    found = _Found()
    for _ in range(keys):
        _read_key(cursor, found)
    names, parameters = _read_tensors(cursor, tensors)
    return GgufHeader(values=found.values, lengths=found.lengths, tensors=names, parameters=parameters)


def _counts(cursor: _Cursor) -> tuple[int, int]:
    begin = cursor.skip(len(_MAGIC))
    if cursor.data[begin : begin + len(_MAGIC)] != _MAGIC:
        raise MalformedModel("it does not begin like a GGUF file")
    version = cursor.number(_UINT32)
    if version not in _VERSIONS:
        what = "its bytes are in the order of big-endian machines" if version >= 2**24 else f"it has version {version}"
        raise MalformedModel(f"{what}; GGUF of version 2 and 3 in little-endian order is read")
    tensors, keys = cursor.number(_UINT64), cursor.number(_UINT64)
    if tensors > _MOST_TENSORS or keys > _MOST_KEYS:
        raise MalformedModel(f"a GGUF header cannot have {keys} keys and {tensors} tensors")
    return tensors, keys


def _read_key(cursor: _Cursor, found: _Found) -> None:
    name, kind = cursor.name(), cursor.number(_UINT32)
    if kind == _ARRAY:
        _read_array(cursor, name, found)
    elif kind == _TEXT:
        found.values[name] = cursor.text(_LONGEST_KEPT_TEXT)
    else:
        found.values[name] = cursor.number(_number_type(kind))


def _read_array(cursor: _Cursor, name: str, found: _Found) -> None:
    kind, length = cursor.number(_UINT32), cursor.number(_UINT64)
    found.lengths[name] = length
    if kind == _TEXT:
        _skip_texts(cursor, length)
        return
    number = _number_type(kind)
    begin = cursor.skip(length * number.size)
    if length <= _LONGEST_KEPT_ARRAY:
        ends = range(begin, begin + length * number.size, number.size)
        found.values[name] = [number.unpack_from(cursor.data, place)[0] for place in ends]


def _skip_texts(cursor: _Cursor, length: int) -> None:
    """Hundreds of thousands: the loop does no more than it must."""
    data, place, end, read = cursor.data, cursor.place, len(cursor.data), _UINT64.unpack_from
    if length * _UINT64.size > MOST_HEADER_BYTES:
        raise MalformedModel(f"a GGUF header cannot hold an array of {length} texts")
    for _ in range(length):
        if place + 8 > end:
            raise TruncatedHeader
        size = read(data, place)[0]
        if size > MOST_HEADER_BYTES:
            raise MalformedModel(f"a GGUF header cannot hold a text of {size} bytes")
        place += 8 + size
    if place > end:
        raise TruncatedHeader
    cursor.place = place


def _number_type(kind: int) -> struct.Struct:
    if kind not in _NUMBERS:
        raise MalformedModel(f"a GGUF header has a value of the unknown type {kind}")
    return _NUMBERS[kind]


def _read_tensors(cursor: _Cursor, tensors: int) -> tuple[frozenset[str], int]:
    names: set[str] = set()
    total = 0
    for _ in range(tensors):
        names.add(cursor.name())
        dimensions = cursor.number(_UINT32)
        if dimensions > _MOST_DIMENSIONS:
            raise MalformedModel(f"a GGUF tensor cannot have {dimensions} dimensions")
        size = 1
        for _ in range(dimensions):
            size *= cursor.number(_UINT64)
        cursor.skip(_UINT32.size + _UINT64.size)  # type and offset
        total += size
    if total > limit_of("parameters"):
        raise MalformedModel("its GGUF tensors are larger than any model")
    return frozenset(names), total
