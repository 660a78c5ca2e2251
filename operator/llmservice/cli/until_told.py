"""Waits as a server does that people end."""

import asyncio
import contextlib
import signal


async def until_told() -> None:
    """Until Ctrl-C or SIGTERM."""
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C ends the command there by itself
            asyncio.get_running_loop().add_signal_handler(number, told.set)
    await told.wait()
