"""One thread of a process that stands still while the others go on: an engine that hangs, as on a device that hangs.

SIGSTOP would stop all of them, and the engine would not answer its probes either.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17


@contextmanager
def stopped(thread: int) -> Iterator[None]:
    """The thread stands still as long as the block runs, unless its process is killed meanwhile. Needs root."""
    _trace(_SEIZE, thread)
    _trace(_INTERRUPT, thread)
    os.waitpid(thread, 0x40000000)  # __WALL: threads too
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            _trace(_DETACH, thread)


def _trace(request: int, thread: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(request, thread, None, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
