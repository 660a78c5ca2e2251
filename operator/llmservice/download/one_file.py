"""One file: what is there of it, the rest of it, its checksum; once more from its beginning where it is wrong."""

import asyncio
import os
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from llmservice.download.checksums import Checksum
from llmservice.download.claim import Claim
from llmservice.download.failing import failed
from llmservice.download.journal import Journal
from llmservice.download.places import Place
from llmservice.download.progress import Progress
from llmservice.download.source import RemoteFile, Source
from llmservice.download.threads import to_its_end
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_marker import CheckedFile

_MOST_TRIES = 2


@dataclass(frozen=True, slots=True)
class Fetching:
    """What all files of a download share."""

    source: Source
    claim: Claim
    journal: Journal
    progress: Progress

    async def complete(self, file: RemoteFile, place: Place) -> CheckedFile | None:
        """The file where it is there and right; None where there is anything to fetch. Raises DownloadFailed."""
        await asyncio.sleep(0)  # of thousands of files on a slow volume; the lock's beat must not wait for all of them
        for path in place.found_at:
            if self.claim.size(path) == file.size:
                known = self.journal.known.get(file.name)
                if known and (known.size, known.etag) == (file.size, file.etag) and _agrees(known, file):
                    return known
                checksum = Checksum(file)
                await to_its_end(self.claim.stop, self._read, checksum, path)
                if checksum.is_right() and _has_digest(file):
                    return self._kept(file, checksum)
            self.claim.remove(path)
        return None

    async def fetch(self, file: RemoteFile, place: Place) -> CheckedFile:
        """Bring the file to its place; raises DownloadFailed."""
        for tries in range(1, _MOST_TRIES + 1):
            checksum = await self._written(file, place)
            if checksum.is_right() or (checksum.size == file.size and not await self.source.is_checksum(file)):
                self.claim.move(place.partial, place.blob)
                return self._kept(file, checksum)
            self.claim.remove(place.partial)
            self.progress.errors += 1
            if tries < _MOST_TRIES:
                self.progress.expected += file.size
        message = f"{file.name} came with a wrong checksum {_MOST_TRIES} times in a row: SHA-256 {checksum.sha256}"
        raise failed(DownloadFailureReason.CHECKSUM_MISMATCH, message)

    async def _written(self, file: RemoteFile, place: Place) -> Checksum:
        """All of the file, from where it ended before."""
        checksum = Checksum(file)
        if (self.claim.size(place.partial) or 0) > file.size:
            self.claim.remove(place.partial)
        descriptor = self.claim.opened(place.partial, os.O_WRONLY | os.O_APPEND)
        try:
            await to_its_end(self.claim.stop, self._read, checksum, place.partial)
            async with aclosing(self.source.chunks(file, checksum.size)) as chunks:
                async for chunk in chunks:
                    await to_its_end(self.claim.stop, self._write, descriptor, place, checksum, chunk)
            await to_its_end(self.claim.stop, os.fsync, descriptor)
        finally:
            os.close(descriptor)
        return checksum

    def _read(self, checksum: Checksum, path: Path) -> None:
        for piece in self.claim.contents(path):
            checksum.add(piece)

    def _write(self, descriptor: int, place: Place, checksum: Checksum, chunk: bytes) -> None:
        left = memoryview(chunk)
        try:
            while left:
                left = left[os.write(descriptor, left) :]
        except OSError as error:
            needed = self.progress.expected - self.progress.done
            raise self.claim.trouble(place.partial, error, needed=needed) from error
        checksum.add(chunk)
        self.progress.done += len(chunk)

    def _kept(self, file: RemoteFile, checksum: Checksum) -> CheckedFile:
        checked = CheckedFile(file.name, file.size, checksum.sha256, file.etag)
        self.journal.add(checked)
        return checked


def _agrees(known: CheckedFile, file: RemoteFile) -> bool:
    """Whether what was checked before is the file that the source has now; only a digest or an ETag can tell."""
    return known.sha256 == file.sha256 if file.sha256 else bool(file.git or file.etag)


def _has_digest(file: RemoteFile) -> bool:
    return bool(file.sha256 or file.git or file.md5)
