"""A stream of JSON objects, one a line."""

from collections.abc import AsyncIterator
from typing import Any

import orjson

from llmservice.cluster.transport.answers import LARGEST_ANSWER_BYTES, Chunks
from llmservice.cluster.transport.failures import garbled

_LONGEST_LINE_BYTES = LARGEST_ANSWER_BYTES
"""What holds of one object in an answer holds of one in an event."""


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
