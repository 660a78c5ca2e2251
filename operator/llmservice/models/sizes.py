"""Sizes: bytes everywhere, GiB of memory and GB of files where people read or write them."""

GIB = 2**30
"""Bytes of one GiB."""
GB = 10**9
"""Bytes of one GB."""


def in_gib(size: float) -> str:
    """Bytes as messages write them: 12.3 GiB."""
    return f"{size / GIB:.1f} GiB"


def in_gb(size: float) -> str:
    """Bytes as messages about disks and networks write them, whose makers count in powers of ten: 12.3 GB."""
    return f"{size / GB:.1f} GB"
