"""Bounds the size of kopf's list pages, and trims its lists and watches to what is read.

kopf asks for a fixed number of objects however large they are, parses all of them and holds each for a while.
"""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson

from llmservice.cluster.caching.kept_metadata import without_unread_metadata
from llmservice.cluster.transport.answers import LARGEST_ANSWER_BYTES, PageSize, read_at_most
from llmservice.errors import AnswerTooLarge


class BoundedResponse(aiohttp.ClientResponse):
    """A response of which at most `at_most` bytes are read; raises `AnswerTooLarge`. Streams are not bounded."""

    at_most = LARGEST_ANSWER_BYTES

    async def read(self) -> bytes:
        """The whole body, kept."""
        if self._body is None:
            try:
                self._body = await read_at_most(self.content, self.at_most)
            except BaseException:
                self.close()
                raise
        return self._body

    async def trim(self) -> None:
        """Leave out of a list's body what the cache would not keep; what is no list stays as it is."""
        body = await self.read()
        try:
            page = orjson.loads(body)
            page["items"] = [without_unread_metadata(item) for item in page.get("items") or ()]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            return
        self._body = orjson.dumps(page)


class TrimmedEvents:
    """The content of a watch, line by line; everything else of it is as it was."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        """What kopf reads: whole lines, without what the cache would not keep of their objects."""
        buffer = bytearray()
        async for chunk in self._content.iter_chunked(size):
            buffer += chunk
            if b"\n" not in chunk:
                continue
            *lines, rest = buffer.split(b"\n")
            buffer = rest
            for line in lines:
                yield _trimmed_event(line) + b"\n"
        if buffer:
            yield bytes(buffer)


def _trimmed_event(line: bytes | bytearray) -> bytes:
    """An event without unread metadata; a line that is none, or that tells of an error, as it is."""
    try:
        event = orjson.loads(line)
        if event["type"] in {"ADDED", "MODIFIED", "DELETED"}:
            return orjson.dumps({**event, "object": without_unread_metadata(event["object"])})
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        pass
    return bytes(line)


class PagesByBytes:
    """Middleware that changes how many objects a list asks for, and trims watches; the session needs `BoundedResponse`.

    The number outlives the list: the next one begins with what held last.
    """

    def __init__(self) -> None:
        self._size = PageSize()

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send the request; a page that is too large is asked for anew, with fewer objects."""
        if request.method != "GET" or "limit" not in request.url.query:
            return _watching(await handler(request)) if "watch" in request.url.query else await handler(request)
        while True:
            request.url = request.url.update_query(limit=self._size.objects)
            response: Any = await handler(request)
            response.at_most = self._size.at_most
            try:
                page = await response.read()
            except AnswerTooLarge:
                if not self._size.was_too_large():
                    raise
            else:
                self._size.was_read(len(page))
                await response.trim()
                return response  # type: ignore[no-any-return]


def _watching(response: Any) -> Any:
    if response.ok:
        response.content = TrimmedEvents(response.content)
    return response
