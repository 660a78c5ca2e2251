"""A model in a bucket: S3 and what speaks it, Google Cloud Storage, Azure Blob Storage; by object_store."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp

from llmservice.download.bandwidth import Bandwidth
from llmservice.download.bucket_failures import may_pass, refusal
from llmservice.download.failing import failed
from llmservice.download.pieces import in_order
from llmservice.download.progress import Progress
from llmservice.download.source import Remote, RemoteFile
from llmservice.models.download_choice import is_safe_name
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_layout import named_file, rest_of
from llmservice.models.download_marker import MOST_FILES
from llmservice.models.plausible import limit_of
from llmservice.pauses import backoff, jittered
from llmservice.untrusted.patterns import compiled

_MOST_TRIES = 6
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_MD5 = compiled(r'"?(?P<digest>[0-9a-f]{32})"?')
"""The ETag of an object that came in one part. Of several parts it ends with their number."""
_ENCRYPTION = "x-amz-server-side-encryption"
_PLAIN_ENCRYPTION = ("", "AES256")
_CUSTOMERS_KEY = "x-amz-server-side-encryption-customer-algorithm"


@dataclass(frozen=True, slots=True)
class BucketSource:
    """Reads one folder of a bucket, or one file of it. `store` is obstore's."""

    store: Any
    uri: str
    bandwidth: Bandwidth
    progress: Progress
    slots: asyncio.Semaphore

    async def listing(self) -> Remote:
        """The objects below the folder, or in the file's; raises DownloadFailed."""
        import obstore  # noqa: PLC0415  (only a download waits for it)

        folder, files = self._folder(), {}
        try:
            async for objects in obstore.list(self.store, folder or None):
                for said in objects:
                    if file := _file(said, folder):
                        files[file.name] = file
                if len(files) > MOST_FILES:
                    message = f"{self.uri} holds more than {MOST_FILES} files"
                    raise failed(DownloadFailureReason.TOO_LARGE, message)
        except _errors() as error:
            raise refusal(error, self.uri) from error
        if not files:
            raise failed(DownloadFailureReason.FILE_MISSING, f"{self.uri} holds no file")
        return Remote(files=files)

    def chunks(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """All bytes from `begin` on; raises DownloadFailed."""

        async def read(first: int, end: int) -> bytes:
            return await self._piece(file, first, end)

        return in_order(read, begin, file.size, self.slots)

    async def is_checksum(self, file: RemoteFile) -> bool:
        """Whether the ETag is a checksum: not of what is encrypted with a key of KMS or of the customer.

        https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html
        """
        headers = await self._headers(file)
        return headers.get(_ENCRYPTION, "") in _PLAIN_ENCRYPTION and _CUSTOMERS_KEY not in headers

    async def _piece(self, file: RemoteFile, begin: int, end: int) -> bytes:
        """A part of the very object that was listed: its ETag is asked for."""
        import obstore  # noqa: PLC0415

        options: Any = {"range": (begin, end)} | ({"if_match": file.etag} if file.etag else {})
        for failures in range(_MOST_TRIES + 1):
            await self.bandwidth.take(end - begin)
            try:
                got = await obstore.get_async(self.store, self._path(file), options=options)
                data = bytes(await got.bytes_async())
                if len(data) == end - begin:
                    return data
                error: Exception = OSError("fewer bytes came than were asked for")
            except _errors() as refused:
                error = refused
            self.progress.errors += 1
            if failures == _MOST_TRIES or not may_pass(error):
                raise refusal(error, f"{self.uri}: {file.name}") from error
            await asyncio.sleep(jittered(backoff(failures, _FIRST_PAUSE, _LONGEST_PAUSE)))
        raise AssertionError  # the last failure is raised

    async def _headers(self, file: RemoteFile) -> Mapping[str, str]:
        """Of the object; none where the store does not tell."""
        import obstore  # noqa: PLC0415

        errors = _errors()
        try:
            url = await obstore.sign_async(self.store, "HEAD", self._path(file), timedelta(minutes=5))
            async with aiohttp.ClientSession(trust_env=True) as session, session.head(url) as response:
                return {name.lower(): value for name, value in response.headers.items()} if response.ok else {}
        except errors:
            return {}

    def _folder(self) -> str:
        """Within the bucket, without a slash at either end."""
        inside = rest_of(self.uri).partition("/")[2].strip("/")
        return inside.rpartition("/")[0] if named_file(self.uri) else inside

    def _path(self, file: RemoteFile) -> str:
        folder = self._folder()
        return f"{folder}/{file.name}" if folder else file.name


def _file(said: Mapping[str, Any], folder: str) -> RemoteFile | None:
    """An object by what the store lists; None of one that no path can be made of."""
    name = str(said.get("path", ""))[len(folder) + 1 if folder else 0 :]
    size, etag = said.get("size"), said.get("e_tag")
    if not (is_safe_name(name) and isinstance(size, int) and 0 <= size <= limit_of("file_bytes")):
        return None
    etag = etag if isinstance(etag, str) and len(etag) <= _LONGEST_ETAG else ""
    found = _MD5.whole(etag)
    return RemoteFile(name=name, size=size, etag=etag, md5=found["digest"] if found else "")


_LONGEST_ETAG = 256


def _errors() -> tuple[type[Exception], ...]:
    """What obstore raises, and aiohttp."""
    from obstore.exceptions import BaseError  # noqa: PLC0415

    return (BaseError, OSError, ValueError, aiohttp.ClientError)
