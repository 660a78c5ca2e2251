"""Where a model comes from: its files by what is told of them, and their bytes in order."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

PIECE = 8 * 2**20
"""Bytes of one request, and of one write."""
NOT_TOLD = -1
"""The size of a file whose source tells none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """What a source tells of a file; a digest in hexadecimal digits, empty where it tells none.

    `git` is Git's SHA-1 of a blob, `xet` the hash under which Xet keeps the file. With another `etag` it is another
    file.
    """

    name: str
    size: int
    sha256: str = ""
    git: str = ""
    md5: str = ""
    etag: str = ""
    xet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """All files of a model by their names, and the commit that they are of; empty of a bucket."""

    files: Mapping[str, RemoteFile] = field(default_factory=dict)
    commit: str = ""

    @property
    def sizes(self) -> Mapping[str, int]:
        """The bytes of each file."""
        return {name: file.size for name, file in self.files.items()}


class Source(Protocol):
    """A hub's repository or a bucket's folder. All methods raise DownloadFailed, and wait and ask again before."""

    async def listing(self) -> Remote:
        """Every file; called once, before any is read."""
        ...

    def chunks(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """All bytes from `begin` to the file's end, in order, in pieces of some megabytes."""
        ...

    async def is_checksum(self, file: RemoteFile) -> bool:
        """Whether the digest that was told is one of the file's bytes; asked when it is not that of what came."""
        ...
