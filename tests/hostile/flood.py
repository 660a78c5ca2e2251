"""Clients of the operator's metrics: `python -m tests.hostile.flood URL TOKEN CLIENTS metrics|silent`."""

import asyncio
import contextlib
import sys
from urllib.parse import urlsplit

import aiohttp


async def _ask(session: aiohttp.ClientSession, url: str) -> None:
    while True:
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with session.get(url, ssl=False) as answer:
                await answer.read()


async def _stay(url: str) -> None:
    """A connection on which a request begins and never ends."""
    where = urlsplit(url)
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(where.hostname, where.port)
            writer.write(b"GET /metrics HTTP/1.1\r\nX: ")
            await writer.wait_closed()


async def _flood(url: str, token: str, clients: int, how: str) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": f"Bearer {token}"}) as session:
        await asyncio.gather(*(_ask(session, url) if how == "metrics" else _stay(url) for _ in range(clients)))


if __name__ == "__main__":
    asyncio.run(_flood(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
