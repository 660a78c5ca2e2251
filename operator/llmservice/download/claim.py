"""The folder where a claim is mounted: nothing is written outside of it, whatever links somebody put there."""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from llmservice.download.failing import failed, is_full, not_written
from llmservice.download.source import PIECE
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.sizes import in_gb

_NEW_FILE = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EACCES)


@dataclass(frozen=True, slots=True)
class Claim:
    """`root` is where the claim is mounted. Methods raise DownloadFailed; `stop` ends what reads or writes for long."""

    root: Path
    stop: threading.Event = field(default_factory=threading.Event)

    def path(self, name: str) -> Path:
        """The path of a name on the claim; raises DownloadFailed when a link leads it out."""
        path = self.root / name
        if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(self.root)):
            raise failed(DownloadFailureReason.NOT_WRITABLE, f"{name} leads out of {self.root}")
        return path

    def folder_for(self, path: Path) -> None:
        """Make the folders above a file."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.trouble(path, error) from error
        self.path(str(path.relative_to(self.root)))

    def free(self) -> int | None:
        """Bytes that may still be written; None where the file system does not tell."""
        try:
            told = os.statvfs(self.root)
        except OSError:
            return None
        return told.f_bavail * told.f_frsize if told.f_blocks else None

    def size(self, path: Path) -> int | None:
        """The bytes of a file, through links that stay on the claim; None where there is no file."""
        try:
            found = path.stat()
        except OSError:
            return None
        is_inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root))
        return found.st_size if is_inside and stat.S_ISREG(found.st_mode) else None

    def opened(self, path: Path, flags: int) -> int:
        """The descriptor of a regular file that is made where there is none; no link is followed."""
        self.folder_for(path)
        try:
            descriptor = os.open(path, flags | _NEW_FILE, 0o664)
        except OSError as error:
            raise self.trouble(path, error) from error
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise failed(DownloadFailureReason.NOT_WRITABLE, f"{path.name} is no file")

    def contents(self, path: Path) -> Iterator[bytes]:
        """A file from its beginning, in pieces; ends early where the download is stopped."""
        with path.open("rb") as file:
            while (piece := file.read(PIECE)) and not self.stop.is_set():
                yield piece

    def small(self, path: Path, at_most: int) -> bytes | None:
        """A small file; None where there is none, or a larger one."""
        if (self.size(path) or at_most + 1) > at_most:
            return None
        try:
            with path.open("rb") as file:
                return file.read(at_most)
        except OSError:
            return None

    def write_whole(self, path: Path, text: str) -> None:
        """Replace a small file at once: it is never seen half written."""
        beside = path.with_name(f".{path.name}.{os.getpid()}.new")
        descriptor = self.opened(beside, os.O_WRONLY | os.O_TRUNC)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            raise self.trouble(path, error) from error

    def link(self, pointer: Path, to: Path) -> None:
        """A relative link to a file; the file itself moves there where the file system has no links."""
        self.folder_for(pointer)
        target = os.path.relpath(to, pointer.parent)
        try:
            if pointer.is_symlink() and str(pointer.readlink()) == target:
                return
            pointer.unlink(missing_ok=True)
            pointer.symlink_to(target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise self.trouble(pointer, error) from error
            self.move(to, pointer)

    def move(self, path: Path, to: Path) -> None:
        """Rename a file on the claim."""
        try:
            path.replace(to)
        except OSError as error:
            raise self.trouble(to, error) from error

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise self.trouble(path, error) from error

    def trouble(self, path: Path, error: OSError, needed: int = 0) -> Exception:
        """What an error of the file system is told as: a full disk with what is needed and what is free."""
        if is_full(error):
            free = self.free() or 0
            message = f"{in_gb(needed)} more are needed and {in_gb(free)} are free"
            return failed(DownloadFailureReason.DISK_FULL, message, needed=needed, free=free)
        return not_written(str(path), error)
