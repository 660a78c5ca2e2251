"""A stream of JSON objects, one a line, of any length."""

from collections.abc import AsyncIterator
from typing import Any, Protocol

import orjson

from llmservice.cluster.failures import garbled

_LONGEST_LINE_BYTES = 64 * 2**20
"""Far above what etcd stores (1.5 MB by default): longer is not the API server."""


class Chunks(Protocol):
    """Bytes as they arrive: `aiohttp.StreamReader`."""

    def iter_any(self) -> AsyncIterator[bytes]:
        """Chunks of any size until the end of the stream."""
        ...


async def json_lines(chunks: Chunks) -> AsyncIterator[dict[str, Any]]:
    """The objects in the stream; raises `Unavailable` for a line that is none. A torn last line is dropped."""
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks.iter_any():
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            parts.append(line)
            yield _parse(b"".join(parts))
            parts.clear()
            size = 0
        parts.append(rest)
        size += len(rest)
        if size > _LONGEST_LINE_BYTES:
            raise garbled("watch", ValueError(f"a line of more than {_LONGEST_LINE_BYTES} bytes"))


def _parse(line: bytes) -> dict[str, Any]:
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise garbled("watch", error) from error
    if not isinstance(content, dict):
        raise garbled("watch", ValueError("not an object"))
    return content
