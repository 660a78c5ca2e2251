"""Waiting for something to become true, with a limit and a reason."""

import time
from collections.abc import Callable

from sandbox.errors import SandboxError

PAUSE_SECONDS = 0.1


def wait_until(check: Callable[[], bool], what: str, *, timeout_seconds: float) -> None:
    """Return when `check` is true; SandboxError saying what was waited for, and what it last complained of."""
    deadline = time.monotonic() + timeout_seconds
    complaint = ""
    while time.monotonic() < deadline:
        try:
            if check():
                return
        except SandboxError as err:
            complaint = f" ({err})"
        time.sleep(PAUSE_SECONDS)
    raise SandboxError(f"{what}: not within {timeout_seconds:.0f} s{complaint}")
