"""The values that a GGUF header consists of: numbers and texts, little-endian (ggml's docs/gguf.md)."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.models.plausible import MalformedModel

MOST_HEADER_BYTES = 32 * 2**20
"""A vocabulary of 262,144 tokens with scores and merges takes 15 MB."""
LONGEST_NAME = 1024
_LETTERS = dict(enumerate("BbHhIif?")) | dict(enumerate("Qqd", 10))
NUMBERS: Mapping[int, struct.Struct] = {kind: struct.Struct(f"<{letter}") for kind, letter in _LETTERS.items()}
"""How each type of number is stored; 8 is a text, 9 an array."""
UINT32, UINT64 = NUMBERS[4], NUMBERS[10]


class TruncatedHeader(Exception):
    """The bytes end before the header does: give it more of the file."""


@dataclass(slots=True)
class Cursor:
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
        """The number here."""
        return kind.unpack_from(self.data, self.skip(kind.size))[0]

    def text(self, keep: int) -> str:
        """A text, or its first `keep` bytes."""
        size = self.number(UINT64)
        begin = self.skip(size)
        return self.data[begin : begin + min(size, keep)].decode(errors="replace")

    def name(self) -> str:
        """A text that must be short."""
        size = UINT64.unpack_from(self.data, self.place)[0] if self.place + 8 <= len(self.data) else 0
        if size > LONGEST_NAME:
            raise MalformedModel(f"a GGUF header has a name of {size} bytes")
        return self.text(LONGEST_NAME)


def number_type(kind: int) -> struct.Struct:
    """How a number of this type is stored; raises MalformedModel for an unknown type."""
    if kind not in NUMBERS:
        raise MalformedModel(f"a GGUF header has a value of the unknown type {kind}")
    return NUMBERS[kind]
