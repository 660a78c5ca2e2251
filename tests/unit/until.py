"""Waiting for what nothing announces."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object]) -> None:
    """Until it holds; whoever asks says how long that may take."""
    while not condition():  # noqa: ASYNC110  (conditions are looked at, nothing announces them)
        await asyncio.sleep(0.002)
