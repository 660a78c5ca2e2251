"""Checksums of a file while it is written: its SHA-256, and what its source tells in place of that."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from llmservice.download.source import RemoteFile


@dataclass(slots=True)
class Checksum:
    """Of one file, from its first byte on. Takes a second for some gigabytes; releases the interpreter meanwhile."""

    file: RemoteFile
    size: int = field(default=0, init=False)
    _sha256: Any = field(init=False)
    _other: Any = field(init=False)

    def __post_init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self._other = _other_for(self.file)

    def add(self, data: bytes) -> None:
        """The bytes that follow."""
        self.size += len(data)
        self._sha256.update(data)
        if self._other:
            self._other.update(data)

    @property
    def sha256(self) -> str:
        """Of what was added so far."""
        digest: str = self._sha256.hexdigest()
        return digest

    def is_right(self) -> bool:
        """Whether size and digest are those that the source told; the size alone, where it told no digest."""
        if self.size != self.file.size:
            return False
        if self.file.sha256:
            return self.sha256 == self.file.sha256
        told = self.file.git or self.file.md5
        return not told or bool(self._other.hexdigest() == told)


def _other_for(file: RemoteFile) -> Any:
    if file.sha256:
        return None
    if file.git:  # Git's name of a blob: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
        return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    return hashlib.md5(usedforsecurity=False) if file.md5 else None
