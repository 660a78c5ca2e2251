"""Clients of the operator's metrics: `python -m tests.hostile.flood URL TOKEN CLIENTS ask|guess|stay`."""

import asyncio
import contextlib
import sys
from secrets import token_hex
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


async def _guess(session: aiohttp.ClientSession, url: str) -> None:
    """With another token each time."""
    while True:
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with session.get(url, ssl=False, headers={"Authorization": f"Bearer {token_hex(16)}"}) as answer:
                await answer.read()


async def _flood(url: str, token: str, clients: int, how: str) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": f"Bearer {token}"}) as session:
        clients_of = {
            "ask": lambda: _ask(session, url),
            "guess": lambda: _guess(session, url),
            "stay": lambda: _stay(url),
        }
        await asyncio.gather(*(clients_of[how]() for _ in range(clients)))


if __name__ == "__main__":
    asyncio.run(_flood(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
