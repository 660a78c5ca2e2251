"""A model in a folder, such as a claim that is mounted read-only. No link is followed out of it.

Whoever can write to the claim may change it at any time: a file is checked when it is open, not before.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from llmservice.inspection.model_files import LONGEST_NAME, MOST_FILES, InspectionFailed, Listing
from llmservice.models.inspection_failure import FailureReason

_DEEPEST = 2
"""Folders below the model's that are looked into: GGUF files of one quantization often share one."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Reads `base`, which is inside `root` or is it. Made by `folder_of`."""

    base: Path
    root: Path

    async def listing(self) -> Listing:
        """The files, with a link's size that of what it leads to; raises InspectionFailed."""
        try:
            return Listing(sizes=dict(self._files(self.base, 0)))
        except OSError as error:
            raise _missing(self.base, error) from error

    async def read(self, name: str, begin: int, size: int) -> bytes:
        """So many bytes of a file from `begin` on; raises InspectionFailed."""
        path = self.base / name
        try:
            descriptor = self._opened(path)
            with os.fdopen(descriptor, "rb") as file:
                file.seek(begin)
                return file.read(size)
        except OSError as error:
            raise _missing(path, error) from error

    def _opened(self, path: Path) -> int:
        """A regular file inside the root. Without O_NONBLOCK a named pipe would be waited for, for ever."""
        if not self._is_inside(path):
            raise _outside(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if self._is_inside(Path(f"/proc/self/fd/{descriptor}")) and stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise _outside(path)

    def _files(self, folder: Path, depth: int) -> Iterator[tuple[str, int]]:
        number = 0
        with os.scandir(folder) as entries:
            for entry in entries:
                number += 1
                if number > MOST_FILES:
                    raise InspectionFailed(FailureReason.TOO_LARGE, f"{folder} holds more than {MOST_FILES} files")
                if entry.is_dir(follow_symlinks=False) and depth < _DEEPEST and not entry.name.startswith("."):
                    yield from self._files(Path(entry.path), depth + 1)
                elif (size := self._size(Path(entry.path))) is not None:
                    yield str(Path(entry.path).relative_to(self.base)), size

    def _size(self, path: Path) -> int | None:
        """None of what is no file, or leads out of the root, or nowhere."""
        try:
            found = path.stat() if self._is_inside(path) else None
        except OSError:
            return None
        return found.st_size if found and stat.S_ISREG(found.st_mode) and len(path.name) <= LONGEST_NAME else None

    def _is_inside(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.root)


def folder_of(path: Path, root: Path) -> tuple[Folder, str]:
    """The folder of a model, and its file where the path names one; raises InspectionFailed."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        raise _missing(path, error) from error
    folder = Folder(Path(os.path.realpath(path if is_folder else path.parent)), Path(os.path.realpath(root)))
    if not folder.base.is_relative_to(folder.root):
        raise _outside(path)
    return folder, "" if is_folder else path.name


def _missing(path: Path, error: OSError) -> InspectionFailed:
    return InspectionFailed(FailureReason.FILE_MISSING, f"{path} cannot be read: {error.strerror or error}")


def _outside(path: Path) -> InspectionFailed:
    return InspectionFailed(FailureReason.FILE_MISSING, f"{path} is no file, or leads out of the folder")
