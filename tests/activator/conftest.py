"""A real activator on loopback, with slices from a cache that the test fills."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from llmservice.activator.bounds import Bounds
from llmservice.activator.process import activator
from llmservice.objects.endpoint_slices import FIRST_PORT, LAST_PORT
from tests.activator.playing import HOST, Bench, Cluster, is_free


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Awaitable[Bench]]]:
    """Start an activator with some bounds unlike the usual ones."""
    async with AsyncExitStack() as stack:

        async def started(**bounds: Any) -> Bench:
            running = await stack.enter_async_context(activator(replace(Bounds(), **bounds), HOST))
            client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(60))
            await stack.enter_async_context(client)
            return Bench(running, Cluster(running), client)

        yield started


@pytest.fixture
def port() -> int:
    """A port that a service may have, free on this machine."""
    return next(each for each in range(FIRST_PORT + 400, LAST_PORT) if is_free(each))
