"""Memory after a start: what the lists left is returned to the system, and the garbage collector skips the cache.

A parsed page takes ten times its bytes and is freed soon; glibc keeps such memory until `malloc_trim` is called.
"""

import asyncio
import ctypes
import gc
from typing import NoReturn

_PAUSES_SECONDS = (5.0, 30.0, 300.0)
_EVERY_SECONDS = 600.0


def settle() -> None:
    """Let the collector pass over everything that is there now, and give free memory back to the system.

    Objects of the cluster are trees, freed without the collector when they go. What is garbage already is collected
    first, as far as it is young: the rest would stay for good.
    """
    gc.collect(0)
    gc.freeze()
    give_back()


def give_back() -> None:
    """Give free memory back to the system."""
    trim = getattr(_LIBC, "malloc_trim", None)  # glibc's own; musl gives memory back without it
    if trim is not None:
        trim(0)


async def settle_often() -> NoReturn:
    """Settle some times after a start; then give memory back every ten minutes, until cancelled."""
    settle()
    for seconds in _PAUSES_SECONDS:
        await asyncio.sleep(seconds)
        settle()
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        give_back()


_LIBC = ctypes.CDLL(None)
