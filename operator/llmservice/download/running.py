"""A download within its time, whatever its source does; and how it is told."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from llmservice.download.bandwidth import Bandwidth
from llmservice.download.bucket_access import bucket_store
from llmservice.download.bucket_source import BucketSource
from llmservice.download.claim import Claim
from llmservice.download.downloading import Download, claim_at
from llmservice.download.failing import DownloadFailed, from_hub
from llmservice.download.hub_bytes import HubBytes
from llmservice.download.hub_source import HubSource
from llmservice.download.progress import Progress
from llmservice.download.source import Source
from llmservice.inspection.hub_access import hub_access
from llmservice.inspection.hub_requests import hub_requests
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_layout import HUB_SCHEME, rest_of, scheme_of
from llmservice.models.download_request import DownloadRequest

_LISTING_SECONDS = 300.0
_TRUE = ("1", "ON", "YES", "TRUE")
"""As huggingface_hub reads its variables."""
_LINE_SECONDS = 10.0
_CONNECT_SECONDS, _READ_SECONDS = 15.0, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Requests at once, bytes in a second (0: no bound), and seconds for all of it."""

    parallel: int = 8
    bandwidth: int = 0
    seconds: float = 86_400.0


async def downloaded(
    request: DownloadRequest, root: Path, bounds: Bounds, progress: Progress, tell: Callable[[str], object]
) -> DownloadedModel | DownloadFailure:
    """The model or why there is none. Cancelled, it ends as Interrupted; what came stays on the claim."""
    claim: Claim | None = None
    try:
        claim = claim_at(root)
        download = Download(request, claim, progress, tell, files_at_once=bounds.parallel)
        async with asyncio.timeout(bounds.seconds), _told(progress, tell):
            return await download.run(lambda: _source(request, bounds, progress, tell))
    except DownloadFailed as error:
        return _with_counts(error.failure, progress)
    except TimeoutError:
        message = f"the download was not done within {bounds.seconds:g} s"
        return _with_counts(DownloadFailure(reason=DownloadFailureReason.TIMED_OUT, message=message), progress)
    except asyncio.CancelledError:
        message = "the download was told to end"
        return _with_counts(DownloadFailure(reason=DownloadFailureReason.INTERRUPTED, message=message), progress)
    finally:
        if claim:
            claim.stop.set()


@asynccontextmanager
async def _told(progress: Progress, tell: Callable[[str], object]) -> AsyncIterator[None]:
    """A line every ten seconds."""

    async def lines() -> None:
        while True:
            progress.line()
            await asyncio.sleep(_LINE_SECONDS)
            tell(progress.line())

    task = asyncio.ensure_future(lines())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def _source(
    request: DownloadRequest, bounds: Bounds, progress: Progress, tell: Callable[[str], object]
) -> AsyncIterator[Source]:
    bandwidth, slots = Bandwidth(bounds.bandwidth), asyncio.Semaphore(bounds.parallel)
    if scheme_of(request.uri) != HUB_SCHEME:
        yield BucketSource(bucket_store(request.uri), request.uri, bandwidth, progress, slots)
        return
    try:
        access = hub_access()
    except InspectionFailed as error:
        raise from_hub(error) from error
    timeout = aiohttp.ClientTimeout(total=None, connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS)
    async with (
        hub_requests(access, min(bounds.seconds, _LISTING_SECONDS)) as requests,
        aiohttp.ClientSession(
            headers=requests.session.headers,
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        ) as session,
    ):
        parts = HubBytes(access, session, bandwidth, progress)
        uses_xet = os.environ.get("HF_HUB_DISABLE_XET", "").upper() not in _TRUE
        yield HubSource(requests, parts, rest_of(request.uri), request.revision, slots, tell, uses_xet)


def _with_counts(failure: DownloadFailure, progress: Progress) -> DownloadFailure:
    return DownloadFailure(
        reason=failure.reason,
        message=failure.message,
        needed=failure.needed,
        free=failure.free,
        done=progress.done,
        total=progress.expected,
    )
