"""GGUF files that are not whole."""

import struct

_HEAD = struct.Struct("<4sIQQ")
_U16, _I32 = 2, 5
"""Types of values in the file (ggml's gguf.h)."""


def first_of_three_parts(whole: bytes) -> bytes:
    """A model's file that says of itself to be the first of three; what is behind the header is moved and not used."""
    magic, version, tensors, keys = _HEAD.unpack_from(whole)
    parts = _value(b"split.count", _U16, struct.pack("<H", 3)) + _value(b"split.no", _U16, struct.pack("<H", 0))
    parts += _value(b"split.tensors.count", _I32, struct.pack("<i", 99))
    return _HEAD.pack(magic, version, tensors, keys + 3) + parts + whole[_HEAD.size :] + bytes(64)


def _value(key: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value
