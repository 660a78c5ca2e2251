"""Asks an activator how many requests it holds: one long poll of its control port, and what may stand in the answer.

The page tells counts by port and nothing else. It is read as a stranger's: in bounds of size and time, and whatever has
not the form of a count is left out.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson
from yarl import URL

from llmservice.errors import Unavailable
from llmservice.objects.endpoint_slices import FIRST_PORT, LAST_PORT

WAIT_SECONDS = 20.0
"""So long an activator waits for a change before it answers."""

_REPLY_SECONDS = 10.0
_MOST_BYTES = 2 * 2**20
_LONGEST_VERSION = 128
_LARGEST_COUNT = 2**53
_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCounts:
    """Of one port: requests held now, and those answered and refused since the activator was started."""

    held: int = 0
    answered: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPage:
    """One answer. The next question bears its `version`, and is answered when something has changed since."""

    version: str = ""
    ports: Mapping[int, PortCounts] = field(default_factory=dict)


async def read_held(session: aiohttp.ClientSession, host: str, port: int, version: str) -> HeldPage:
    """The next answer of the activator at this address; raises Unavailable."""
    query = {"version": version, "wait": f"{WAIT_SECONDS:.0f}"}
    url = URL.build(scheme="http", host=host, port=port, path="/held", query=query)
    try:
        async with (
            asyncio.timeout(WAIT_SECONDS + _REPLY_SECONDS),
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != _OK:
                raise Unavailable("Unavailable", f"it answers {response.status}")
            body = await _in_bounds(response.content)
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise Unavailable("Unavailable", f"{type(error).__name__}: {error}") from error
    return page_in(body)


def page_in(body: bytes) -> HeldPage:
    """The page in an answer; raises Unavailable for what is none."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unavailable("Unavailable", "its answer is not JSON") from error
    ports = said.get("ports") if isinstance(said, dict) else None
    if not isinstance(ports, dict):
        raise Unavailable("Unavailable", "its answer has no ports")
    counted = ((_port(key), each) for key, each in ports.items())
    return HeldPage(
        version=str(said.get("version", ""))[:_LONGEST_VERSION],
        ports={port: _counts(each) for port, each in counted if port is not None and isinstance(each, dict)},
    )


async def _in_bounds(content: aiohttp.StreamReader) -> bytes:
    parts, size = list[bytes](), 0
    async for part in content.iter_chunked(2**16):
        size += len(part)
        if size > _MOST_BYTES:
            raise Unavailable("Unavailable", f"its answer has more than {_MOST_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _port(text: Any) -> int | None:
    is_number = isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) == len(str(LAST_PORT))
    return int(text) if is_number and FIRST_PORT <= int(text) <= LAST_PORT else None


def _counts(said: Mapping[str, Any]) -> PortCounts:
    return PortCounts(held=_count(said, "held"), answered=_count(said, "answered"), refused=_count(said, "refused"))


def _count(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name, 0)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return value if is_count else 0
