"""Sizes: bytes everywhere, GiB of memory and GB of files where people read or write them."""

GIB = 2**30
"""Bytes of one GiB."""
GB = 10**9
_MB = 10**6
"""Bytes of one GB."""


def in_gib(size: float) -> str:
    """Bytes as messages write them: 12.3 GiB."""
    return f"{size / GIB:.1f} GiB"


def in_gb(size: float) -> str:
    """Bytes as messages about disks and networks write them, whose makers count in powers of ten: 12.3 GB, 12 MB."""
    number, unit = _shown(size, size)
    return f"{number} {unit}"


def of_in_gb(done: float, total: float) -> str:
    """How much of a total there is, in one unit: 61.2 of 141.1 GB (43 %)."""
    (number, unit), (numbers, _) = _shown(done, total), _shown(total, total)
    percent = int(100 * min(1.0, done / total)) if total else 0
    return f"{number} of {numbers} {unit} ({percent} %)"


def _shown(size: float, largest: float) -> tuple[str, str]:
    return (f"{size / GB:.1f}", "GB") if largest >= GB / 10 else (f"{size / _MB:.0f}", "MB")
