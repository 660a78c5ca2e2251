"""HTTP to pods within bounds: no proxy, no cookies, no decompression, small buffers, few headers."""

import socket

import aiohttp
from aiohttp import AddrInfoType

from llmservice import __version__
from llmservice.signals.byte_budget import BUFFERED_BYTES, RECEIVE_BYTES

_MOST_HEADERS, _HEADER_BYTES = 32, 1024
"""Of an answer, where aiohttp would take 128 of 8190 bytes. Engines send four to eight, a sidecar adds some."""
_HEADERS = {
    "Accept": "text/plain;version=0.0.4",
    "Accept-Encoding": "identity",
    "User-Agent": f"llmservice-operator/{__version__}",
}


def pod_session() -> aiohttp.ClientSession:
    """A session to be closed by its user.

    Each request has a connection of its own: some engines hold a thread for an idle one.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True, socket_factory=_small_socket),
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        read_bufsize=BUFFERED_BYTES,
        max_line_size=_HEADER_BYTES,
        max_field_size=_HEADER_BYTES,
        max_headers=_MOST_HEADERS,
    )


async def filled(page: bytearray, size: int, content: aiohttp.StreamReader) -> bytearray:
    """The page with what arrives, until it has this size or the answer ends."""
    while len(page) < size and (piece := await content.readany()):
        page += piece
    return page


def _small_socket(address: AddrInfoType) -> socket.socket:
    """A socket whose kernel buffer is as small as the budget counts it; asyncio hands over up to 256 kB at once."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    return made
