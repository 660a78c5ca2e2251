"""A model on a hub that speaks the Hugging Face API, with what the hub tells of each file.

Not by huggingface_hub's own download: since 1.0 it begins a file again after each break, compares sizes but no
checksums, knows no bound of bandwidth and refuses files above 50 GB without Xet (2.4: file_download.py,
`_download_to_tmp_and_move`, `http_get`). Its layout is kept, and its client of Xet used.

Addresses and answers: huggingface_hub, `hf_api.py` (`RepoSibling`), `utils/_xet.py`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from yarl import URL

from llmservice.converging.redaction import redacted
from llmservice.download.failing import failed, from_hub
from llmservice.download.hub_bytes import HubBytes, Part
from llmservice.download.pieces import in_order
from llmservice.download.progress import Progress
from llmservice.download.source import NOT_TOLD, Remote, RemoteFile
from llmservice.download.xet import XET_ERRORS, Xet
from llmservice.inspection.hub_requests import HubRequests
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.download_choice import is_safe_name
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_layout import COMMIT_LETTERS
from llmservice.models.download_marker import MOST_FILES
from llmservice.models.plausible import MalformedModel, json_object, limit_of, part
from llmservice.untrusted.patterns import compiled

MAIN = "main"
_MOST_LISTING_BYTES = 8 * 2**20
"""A repository with 10,000 files takes 4 MB."""
_LEAST_XET_BYTES = 64 * 2**20
"""Smaller files come sooner from the hub than by a question to Xet and another to its store."""
_LONGEST_ERROR = 300
_XET_HASH = "X-Xet-Hash"
_SHA256 = compiled(r"[0-9a-f]{64}")
_SHA1 = compiled(r"[0-9a-f]{40}")


@dataclass(slots=True)
class HubSource:
    """Reads one repository at one revision; `commit` is known once it is listed. `slots` are those of all files."""

    requests: HubRequests
    parts: HubBytes
    name: str
    revision: str
    slots: asyncio.Semaphore
    tell: Callable[[str], object]
    uses_xet: bool = True
    commit: str = field(default="", init=False)
    _xet: Xet | None = field(default=None, init=False)

    async def listing(self) -> Remote:
        """The files by the hub's own list; raises DownloadFailed."""
        url = self._address(f"/api/models/{self.name}/revision/{quote(self.revision or MAIN, safe='')}")
        what = f"{self.name} at {self.revision or MAIN}"
        try:
            data = await self.requests.get(url.with_query(blobs="true"), what, size=_MOST_LISTING_BYTES + 1)
            remote = _remote(json_object(data, "the hub's answer", _MOST_LISTING_BYTES))
        except InspectionFailed as error:
            raise from_hub(error) from error
        except MalformedModel as error:
            message = f"{url.host} does not answer as a hub: {error}"
            raise failed(DownloadFailureReason.NO_ROUTE, message) from error
        self.commit = remote.commit
        return remote

    async def chunks(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """All bytes from `begin` on, by Xet where the hub has the file there; raises DownloadFailed."""
        url, at = self._address(f"/{self.name}/resolve/{self.commit}/{quote(file.name)}"), begin
        if kept := await self._in_xet(file, url):
            try:
                async with aclosing(self.xet.chunks(kept, begin)) as chunks:
                    async for chunk in chunks:
                        at += len(chunk)
                        yield chunk
            except (*XET_ERRORS, InspectionFailed) as error:
                self.progress.errors += 1
                self.uses_xet = False  # its store may be out of reach where the hub is not
                self.tell(f"from the hub itself, as Xet fails: {redacted(str(error), _LONGEST_ERROR)}")

        async def read(first: int, end: int) -> bytes:
            return await self.parts.read(Part(url, f"{self.name}/{file.name}", first, end))

        async with aclosing(in_order(read, at, file.size, self.slots)) as pieces:
            async for piece in pieces:
                yield piece

    async def _in_xet(self, file: RemoteFile, url: URL) -> RemoteFile | None:
        """The file with its name in Xet; None where it is small or the hub has it nowhere but on its own disks."""
        if not self.uses_xet or not file.sha256 or file.size < _LEAST_XET_BYTES:
            return None
        told = await self.parts.header(url, _XET_HASH)
        return replace(file, xet=told) if _SHA256.matches(told) else None

    @property
    def xet(self) -> Xet:
        """The files of this commit that are in Xet."""
        if self._xet is None:
            token = self._address(f"/api/models/{self.name}/xet-read-token/{self.commit}")
            self._xet = Xet(self.requests, token, self.parts.bandwidth)
        return self._xet

    @property
    def progress(self) -> Progress:
        """That of all requests."""
        return self.parts.progress

    async def is_checksum(self, file: RemoteFile) -> bool:  # noqa: ARG002  (the same for every file)
        """A hub's digests are those of the bytes. What came wrong by Xet is loaded from the hub itself."""
        self.uses_xet = False
        return True

    def _address(self, path: str) -> URL:
        return URL(f"{self.requests.access.endpoint}{path}", encoded=True)


def _remote(answer: Mapping[str, Any]) -> Remote:
    """What the hub tells of a repository; raises MalformedModel where it is something else."""
    siblings, commit = answer.get("siblings"), answer.get("sha")
    if not isinstance(siblings, list):
        raise MalformedModel("it lists no files")
    if not isinstance(commit, str) or len(commit) != COMMIT_LETTERS or not _SHA1.matches(commit):
        raise MalformedModel("it names no commit")
    if len(siblings) > MOST_FILES:
        raise failed(DownloadFailureReason.TOO_LARGE, f"the repository has more than {MOST_FILES} files")
    return Remote(files={file.name: file for file in _files(siblings)}, commit=commit)


def _files(siblings: list[Any]) -> Iterator[RemoteFile]:
    """Those that a path can be made of."""
    for sibling in siblings:
        if isinstance(sibling, dict) and is_safe_name(sibling.get("rfilename")):
            large = part(sibling, "lfs")
            yield RemoteFile(
                name=sibling["rfilename"],
                size=_size(large.get("size", sibling.get("size"))),
                sha256=_digest(large.get("sha256") or large.get("oid"), _SHA256),
                git="" if large else _digest(sibling.get("blobId"), _SHA1),
            )


def _size(value: object) -> int:
    is_size = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit_of("file_bytes")
    return value if isinstance(value, int) and is_size else NOT_TOLD


def _digest(value: object, form: Any) -> str:
    return value if isinstance(value, str) and form.matches(value) else ""
