"""How much of a response is read, and how many objects a page asks for: by bytes, because objects differ in size."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from llmservice.errors import AnswerTooLarge

LARGEST_ANSWER_BYTES = 16 * 2**20
"""One object of 1.5 MB, which is all that etcd stores, written as JSON: Go writes `<` as six bytes."""

LARGEST_PAGE_BYTES = 4 * 2**20
"""Parsed, a page takes ten times its bytes, most of it managed fields that nobody keeps: memory never goes back."""

_MOST_OBJECTS = 100


class Chunks(Protocol):
    """Bytes as they arrive: `aiohttp.StreamReader`."""

    def iter_any(self) -> AsyncIterator[bytes]:
        """Chunks of any size until the end."""
        ...


async def read_at_most(chunks: Chunks, at_most: int) -> bytes:
    """The whole response; raises `AnswerTooLarge` as soon as it has more bytes than this."""
    parts, size = [], 0
    async for chunk in chunks.iter_any():
        parts.append(chunk)
        size += len(chunk)
        if size > at_most:
            raise AnswerTooLarge(at_most)
    return b"".join(parts)


@dataclass(slots=True)
class PageSize:
    """How many objects to ask for, so that a page has 1 to 2 MiB, and at most 4, unless it is a single object."""

    objects: int = _MOST_OBJECTS

    @property
    def at_most(self) -> int:
        """Bytes of the next page that are read."""
        return LARGEST_PAGE_BYTES if self.objects > 1 else LARGEST_ANSWER_BYTES

    def was_read(self, size: int) -> None:
        """A page had so many bytes."""
        if size > LARGEST_PAGE_BYTES // 2:
            self.objects = max(1, self.objects // 2)
        elif size < LARGEST_PAGE_BYTES // 4:
            self.objects = min(_MOST_OBJECTS, self.objects * 2)

    def was_too_large(self) -> bool:
        """A page had more than `at_most`; returns whether to ask for fewer objects."""
        fewer, self.objects = self.objects > 1, max(1, self.objects // 4)
        return fewer
