"""GET requests to a hub, in bounds: bytes, redirects, tries and time. The token goes to no other host.

Plain aiohttp, which the operator has already: huggingface_hub downloads to a cache on disk, retries without a deadline
of ours, and would be one more package in the image for four kinds of request.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from yarl import URL

from llmservice import __version__
from llmservice.inspection.hub_access import HubAccess
from llmservice.inspection.hub_failures import no_answer, refusal
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.inspection_failure import FailureReason
from llmservice.untrusted.patterns import compiled

_HEADERS = {"Accept-Encoding": "identity", "User-Agent": f"llmservice/{__version__}"}
_CONNECT_SECONDS = 15.0
_MOST_REDIRECTS = 5
_MOST_TRIES = 3
_SHORT_SECONDS = 0.5
_BROKEN_OFF = (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientConnectionResetError)
"""Worth another try. Who refuses a connection, or has no name, does so again."""
_SUCCESS, _PARTIAL, _BEYOND_THE_END, _TOO_MANY = 200, 206, 416, 429
_TRANSIENT = frozenset((500, 502, 503, 504))
_LIMIT_RESET = compiled(r";\s*t=(?P<seconds>[0-9]{1,6})")
"""In the header `RateLimit`: `"api";r=0;t=55` (draft-ietf-httpapi-ratelimit-headers)."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HubRequests:
    """Asks the hub until `end`, in seconds of the running loop. Made by `hub_requests`."""

    access: HubAccess
    session: aiohttp.ClientSession
    end: float

    async def get(self, url: URL, what: str, *, size: int, begin: int = 0, part: bool = False) -> bytes:
        """At most `size` bytes of the answer, from `begin` on; raises InspectionFailed.

        `part` asks for no more than that; else the answer must be smaller.
        """
        wanted = {"Range": f"bytes={begin}-{begin + size - 1}"} if part else {}
        answer = await self._answered(url, wanted, begin + size)
        if answer.status == _PARTIAL and answer.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
            return answer.body[:size]
        if answer.status == _SUCCESS:  # perhaps of a server that knows no ranges
            return answer.body[begin : begin + size]
        if answer.status == _BEYOND_THE_END:
            return b""
        raise refusal(answer.status, answer.headers, what, with_token=bool(self.access.token))

    async def _answered(self, url: URL, headers: Mapping[str, str], at_most: int) -> _Answer:
        """The answer, perhaps of a later try: soon where the server fails, when it says where it throttles."""
        for tries in itertools.count(1):
            try:
                answer = await self._followed(url, headers, at_most)
                pause = _pause(answer, tries)
                if pause is None or not self._has_time(pause):
                    return answer
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                pause = _SHORT_SECONDS * tries
                if tries == _MOST_TRIES or not isinstance(error, _BROKEN_OFF) or not self._has_time(pause):
                    raise no_answer(url.host or "", error) from error
            await asyncio.sleep(pause)
        raise AssertionError  # counting has no end

    def _has_time(self, pause: float) -> bool:
        return asyncio.get_running_loop().time() + pause < self.end

    async def _followed(self, url: URL, headers: Mapping[str, str], at_most: int) -> _Answer:
        for _ in range(_MOST_REDIRECTS):
            sent = {**headers, **self.access.headers_for(url)}
            async with self.session.get(
                url, headers=sent, allow_redirects=False, proxy=self.access.proxy_for(url), ssl=self.access.tls
            ) as response:
                location = response.headers.get("Location", "")
                if not (300 <= response.status < 400 and location):  # noqa: PLR2004
                    return _Answer(response.status, response.headers, await _body(response, at_most))
                url = next_address(response.url, location)
        raise InspectionFailed(FailureReason.NO_ROUTE, f"{url.host}: redirects without end")


@asynccontextmanager
async def hub_requests(access: HubAccess, seconds: float) -> AsyncIterator[HubRequests]:
    """Requests that end after so many seconds, as long as the block runs.

    Proxies are chosen for each request by `access`: aiohttp's own way would look for passwords in ~/.netrc as well.
    """
    session = aiohttp.ClientSession(
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=seconds, connect=min(seconds, _CONNECT_SECONDS)),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )
    async with session:
        yield HubRequests(access, session, asyncio.get_running_loop().time() + seconds)


async def _body(response: aiohttp.ClientResponse, at_most: int) -> bytes:
    body = bytearray()
    while len(body) < at_most and (piece := await response.content.readany()):
        body += piece
    del body[at_most:]
    return bytes(body)


def next_address(url: URL, location: str) -> URL:
    """Where a redirect leads; raises InspectionFailed. A signed address is never shown: whoever has it may read."""
    try:
        target = url.join(URL(location, encoded=True))
    except ValueError as error:
        raise InspectionFailed(FailureReason.NO_ROUTE, f"{url.host}: redirects to no address") from error
    if target.scheme not in {"http", "https"} or not target.host or (url.scheme, target.scheme) == ("https", "http"):
        raise InspectionFailed(FailureReason.NO_ROUTE, f"{url.host}: redirects to something else than https")
    return target.with_user(None)


def _pause(answer: _Answer, tries: int) -> float | None:
    """Seconds until the next try; None where there is none."""
    if answer.status == _TOO_MANY:
        return asked_pause(answer.headers) or 2.0**tries
    return _SHORT_SECONDS * tries if answer.status in _TRANSIENT and tries < _MOST_TRIES else None


def asked_pause(headers: Mapping[str, str]) -> float:
    """Seconds that a throttling server asks for; 0 where it does not say."""
    after = headers.get("Retry-After", "")
    if after.isascii() and after.isdecimal():
        return float(after[:9])
    found = _LIMIT_RESET.first(headers.get("RateLimit", "")[:256])
    return float(found["seconds"]) if found else 0.0
