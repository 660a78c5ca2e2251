"""Calls that block, in threads of their own."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any


async def to_its_end(stop: threading.Event, function: Callable[..., Any], *arguments: Any) -> None:
    """Call what uses a file that is closed afterwards. Cancelled, it is told so by `stop`, and waited for."""
    thread = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        await asyncio.shield(thread)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([thread])
        raise


async def detached(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns or raises. Cancelled, nobody waits for it, nor does the end of the process."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = function(*arguments)
        except Exception as raised:  # noqa: BLE001  (it is raised where it is awaited)
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop may have ended
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True).start()
    return await future
