"""A real activator on loopback, with slices from a cache that the test fills."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from llmservice.activator.bounds import Bounds
from llmservice.activator.process import activator
from llmservice.objects.endpoint_slices import FIRST_PORT
from tests.activator.playing import HOST, Bench, Cluster, is_free

_PORTS = 100
"""Of each worker of pytest-xdist."""


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
    """A port that a service may have, free on this machine, and so is the next one.

    Tests that run side by side have ports of their own: none hears the clients of another.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = FIRST_PORT + 400 + worker * _PORTS
    return next(each for each in range(first, first + _PORTS) if is_free(each) and is_free(each + 1))
