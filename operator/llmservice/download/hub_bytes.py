"""Parts of a hub's files over HTTP: resumed where the connection breaks, later where the hub throttles.

Large files are redirected to another host, by an address that is signed and expires: it is kept for the next part, so
that the hub is asked once for a file, and asked again when the address is refused.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from llmservice.download.bandwidth import Bandwidth
from llmservice.download.failing import DownloadFailed, failed, from_hub
from llmservice.download.progress import Progress
from llmservice.inspection.hub_access import HubAccess
from llmservice.inspection.hub_failures import no_answer, refusal
from llmservice.inspection.hub_requests import asked_pause, next_address
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.pauses import backoff, jittered

_MOST_TRIES = 8
"""In a row that brought no byte: two minutes with the pauses between. A hub that says when it may be asked again is
asked then, until the time of the download is over."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_LONGEST_ASKED_PAUSE = 900.0
_MOST_REDIRECTS = 5
_SUCCESS, _PARTIAL, _TOO_MANY = 200, 206, 429
_EXPIRED = frozenset((400, 401, 403, 404, 410))
"""What stores answer to an address whose time is over."""
_TRANSIENT = frozenset((408, 500, 502, 503, 504))


@dataclass(frozen=True, slots=True)
class Part:
    """Which bytes of which file: from `begin` up to `end`, and what to call it in a message."""

    url: URL
    what: str
    begin: int
    end: int


@dataclass(slots=True)
class HubBytes:
    """Reads parts of files. `signed` are the addresses to which the hub redirected, by its own."""

    access: HubAccess
    session: aiohttp.ClientSession
    bandwidth: Bandwidth
    progress: Progress
    signed: dict[URL, URL] = field(default_factory=dict)

    async def read(self, part: Part) -> bytes:
        """All bytes of the part; raises DownloadFailed."""
        came, failures = bytearray(), 0
        while len(came) < part.end - part.begin:
            before = len(came)
            pause: float | None = None
            try:
                pause = await self._more(part, came)
                trouble: Exception | None = None
            except InspectionFailed as error:
                raise from_hub(error) from error
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                trouble = error
            if len(came) < part.end - part.begin:
                failures = 0 if len(came) > before else failures + 1
                await self._wait(part, trouble, failures, pause)
        return bytes(came)

    async def header(self, url: URL, name: str) -> str:
        """A header of the hub's own answer for a file; empty where it does not come."""
        try:
            async with self.session.head(
                url,
                headers=self.access.headers_for(url),
                allow_redirects=False,
                proxy=self.access.proxy_for(url),
                ssl=self.access.tls,
            ) as response:
                return response.headers.get(name, "")
        except (aiohttp.ClientError, TimeoutError, OSError):
            return ""

    async def _wait(self, part: Part, trouble: Exception | None, failures: int, pause: float | None) -> None:
        """Before the next try; raises DownloadFailed after too many that brought nothing."""
        self.progress.errors += 1
        if failures > _MOST_TRIES and pause is None:
            raise _given_up(part, trouble) from trouble
        if pause and pause > _LONGEST_ASKED_PAUSE:
            message = f"{part.what}: {part.url.host} takes no more requests from here for {pause:.0f} s"
            raise failed(DownloadFailureReason.THROTTLED, message)
        await asyncio.sleep(pause or jittered(backoff(failures, _FIRST_PAUSE, _LONGEST_PAUSE)))

    async def _more(self, part: Part, came: bytearray) -> float | None:
        """Add what one request brings; the pause that the hub asks for, where it does."""
        url = self.signed.get(part.url, part.url)
        for _ in range(_MOST_REDIRECTS):
            sent = {"Range": f"bytes={part.begin + len(came)}-{part.end - 1}", **self.access.headers_for(url)}
            async with self.session.get(
                url, headers=sent, allow_redirects=False, proxy=self.access.proxy_for(url), ssl=self.access.tls
            ) as response:
                location = response.headers.get("Location", "")
                if 300 <= response.status < 400 and location:  # noqa: PLR2004
                    url = next_address(response.url, location)
                    continue
                return await self._taken(part, url, response, came)
        raise failed(DownloadFailureReason.NO_ROUTE, f"{url.host}: redirects without end")

    async def _taken(self, part: Part, url: URL, response: aiohttp.ClientResponse, came: bytearray) -> float | None:
        begin = part.begin + len(came)
        if response.status == _PARTIAL and response.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
            self.signed[part.url] = url
        elif not (response.status == _SUCCESS and begin == 0):  # a small file, of a server that knows no ranges
            return self._refused(part, url, response.status, response.headers)
        async for piece in response.content.iter_any():
            await self.bandwidth.take(len(piece))
            came += piece[: part.end - part.begin - len(came)]
            if len(came) == part.end - part.begin:
                break
        return None

    def _refused(self, part: Part, url: URL, status: int, headers: Mapping[str, str]) -> float | None:
        if status == _TOO_MANY:
            return asked_pause(headers) or None
        if status in _TRANSIENT:
            return None
        if status in _EXPIRED and part.url in self.signed:
            del self.signed[part.url]  # its time is over: the hub gives another
            return None
        if status in {_SUCCESS, _PARTIAL}:
            message = f"{url.host} does not answer with the part of {part.what} that it was asked for"
            raise failed(DownloadFailureReason.NO_ROUTE, message)
        raise from_hub(refusal(status, headers, part.what, with_token=bool(self.access.token)))


def _given_up(part: Part, trouble: Exception | None) -> DownloadFailed:
    """What many tries in a row ended with."""
    if trouble is not None:
        return from_hub(no_answer(part.url.host or "", trouble))
    message = f"{part.what}: {part.url.host} answered {_MOST_TRIES} times in a row that it cannot"
    return failed(DownloadFailureReason.NO_ROUTE, message)
