"""The header of a GGUF file, version 2 and 3: what it says in keys, and what tensors there are.

The format is ggml's (docs/gguf.md). Memory is bounded: of an array of texts, such as the vocabulary, only the length
stays. Time is linear in the bytes that were given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmservice.models.gguf_values import MOST_HEADER_BYTES, UINT32, UINT64, Cursor, TruncatedHeader, number_type
from llmservice.models.plausible import MalformedModel, limit_of

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_KEYS = 4096
_MOST_TENSORS = 65_536
_LONGEST_KEPT_TEXT = 256
_LONGEST_KEPT_ARRAY = 1024
"""Arrays of numbers up to this are kept: one for each layer."""
_MOST_DIMENSIONS = 4
_TEXT, _ARRAY = 8, 9


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
class _Found:
    values: dict[str, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)


def read_gguf_header(data: bytes | bytearray) -> GgufHeader:
    """The header at the beginning of `data`; raises TruncatedHeader and MalformedModel."""
    cursor = Cursor(data)
    tensors, keys = _counts(cursor)
    found = _Found()
    for _ in range(keys):
        _read_key(cursor, found)
    names, parameters = _read_tensors(cursor, tensors)
    return GgufHeader(values=found.values, lengths=found.lengths, tensors=names, parameters=parameters)


def _counts(cursor: Cursor) -> tuple[int, int]:
    begin = cursor.skip(len(_MAGIC))
    if cursor.data[begin : begin + len(_MAGIC)] != _MAGIC:
        raise MalformedModel("it does not begin like a GGUF file")
    version = cursor.number(UINT32)
    if version not in _VERSIONS:
        what = "its bytes are in the order of big-endian machines" if version >= 2**24 else f"it has version {version}"
        raise MalformedModel(f"{what}; GGUF of version 2 and 3 in little-endian order is read")
    tensors, keys = cursor.number(UINT64), cursor.number(UINT64)
    if tensors > _MOST_TENSORS or keys > _MOST_KEYS:
        raise MalformedModel(f"a GGUF header cannot have {keys} keys and {tensors} tensors")
    return tensors, keys


def _read_key(cursor: Cursor, found: _Found) -> None:
    name, kind = cursor.name(), cursor.number(UINT32)
    if kind == _ARRAY:
        _read_array(cursor, name, found)
    elif kind == _TEXT:
        found.values[name] = cursor.text(_LONGEST_KEPT_TEXT)
    else:
        found.values[name] = cursor.number(number_type(kind))


def _read_array(cursor: Cursor, name: str, found: _Found) -> None:
    kind, length = cursor.number(UINT32), cursor.number(UINT64)
    found.lengths[name] = length
    if kind == _TEXT:
        _skip_texts(cursor, length)
        return
    number = number_type(kind)
    begin = cursor.skip(length * number.size)
    if length <= _LONGEST_KEPT_ARRAY:
        ends = range(begin, begin + length * number.size, number.size)
        found.values[name] = [number.unpack_from(cursor.data, place)[0] for place in ends]


def _skip_texts(cursor: Cursor, length: int) -> None:
    """Hundreds of thousands: the loop does no more than it must."""
    data, place, end, read = cursor.data, cursor.place, len(cursor.data), UINT64.unpack_from
    if length * UINT64.size > MOST_HEADER_BYTES:
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


def _read_tensors(cursor: Cursor, tensors: int) -> tuple[frozenset[str], int]:
    names: set[str] = set()
    total = 0
    for _ in range(tensors):
        names.add(cursor.name())
        dimensions = cursor.number(UINT32)
        if dimensions > _MOST_DIMENSIONS:
            raise MalformedModel(f"a GGUF tensor cannot have {dimensions} dimensions")
        size = 1
        for _ in range(dimensions):
            size *= cursor.number(UINT64)
        cursor.skip(UINT32.size + UINT64.size)  # type and offset
        total += size
    if total > limit_of("parameters"):
        raise MalformedModel("its GGUF tensors are larger than any model")
    return frozenset(names), total
