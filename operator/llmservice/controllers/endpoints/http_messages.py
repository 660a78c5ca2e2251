"""Responses of the operator's own endpoints: a line of text, JSON, or a large page."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
from aiohttp import web

_CHUNK_BYTES = 64 * 1024


def told(status: int, message: str, **headers: str) -> web.Response:
    """One line of text; names of headers are written with underscores."""
    return web.Response(status=status, text=f"{message}\n", headers=_named(headers))


def as_json(status: int, content: Any, **headers: str) -> web.Response:
    """JSON that people can read; names of headers are written with underscores."""
    body = orjson.dumps(content, option=orjson.OPT_INDENT_2, default=str)
    return web.Response(status=status, body=body, content_type="application/json", headers=_named(headers))


def in_chunks(page: bytes, content_type: str) -> web.Response:
    """A large page that many responses share: a slow reader costs some chunks of memory and no copy of the page."""
    return web.Response(
        body=_chunks(memoryview(page)), headers={"Content-Type": content_type, "Content-Length": str(len(page))}
    )


async def _chunks(page: memoryview) -> AsyncIterator[memoryview]:
    for start in range(0, len(page), _CHUNK_BYTES):
        yield page[start : start + _CHUNK_BYTES]


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
