"""Sizes of memory: bytes everywhere, GiB where people read or write them."""

GIB = 2**30
"""Bytes of one GiB."""


def in_gib(size: float) -> str:
    """Bytes as messages write them: 12.3 GiB."""
    return f"{size / GIB:.1f} GiB"
