"""Servers for tests that wait: each runs in a thread of its own, with an event loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager


@contextmanager
def in_a_thread(server: AbstractAsyncContextManager[object]) -> Iterator[None]:
    """The server is entered before the block begins, and left when it ends."""
    ready, done = threading.Event(), threading.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield
    finally:
        done.set()
        thread.join(10)
