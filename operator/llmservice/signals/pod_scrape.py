"""Readings from the pods themselves: GET /metrics at each pod's address, all at once, in bounds.

Never through a proxy, never after a redirect, never packed: a pod may answer with anything, and none of it may cost
more than its share of time and memory.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from llmservice import __version__
from llmservice.converging.redaction import redacted
from llmservice.signals.exposition import has_samples, names_in, scan
from llmservice.signals.samples import is_of_engine, of_another_engine, reading_from, wanted
from llmservice.signals.source import Reading, Target, Unread, UnreadReason

_PATH = "/metrics"
_LONGEST_ADDRESS = 200
_UNAUTHORIZED = (401, 403)
_WRONG_LISTENER = "something else than the engine listens on its port; correct the image"
_HEADERS = {
    "Accept": "text/plain;version=0.0.4",
    "Accept-Encoding": "identity",
    "User-Agent": f"llmservice-operator/{__version__}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a round may cost: `pod_seconds` for one answer in full, `round_seconds` for all of them."""

    pod_seconds: float = 5.0
    round_seconds: float = 9.0
    page_bytes: int = 4 * 2**20
    at_once: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """Scrapes pods. Made by `pods`."""

    session: aiohttp.ClientSession
    limits: Limits
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | Unread]:
        """A Reading or an Unread for each target, within `round_seconds`."""
        free = asyncio.Semaphore(self.limits.at_once)
        end = asyncio.get_running_loop().time() + self.limits.round_seconds
        results = await asyncio.gather(*(self._in_turn(target, free, end) for target in targets))
        return dict(zip(targets, results, strict=True))

    async def _in_turn(self, target: Target, free: asyncio.Semaphore, end: float) -> Reading | Unread:
        try:
            async with asyncio.timeout_at(end), free:
                return await self._one(target)
        except TimeoutError:
            return _unread(
                UnreadReason.TIMED_OUT,
                f"not read within the round of {self.limits.round_seconds:g} s: too many pods hang; see the others",
            )

    async def _one(self, target: Target) -> Reading | Unread:
        """One scrape; whatever goes wrong is a value."""
        try:
            async with asyncio.timeout(self.limits.pod_seconds):
                page = await self._page(target)
        except TimeoutError:
            return _unread(
                UnreadReason.TIMED_OUT,
                f"no full answer within {self.limits.pod_seconds:g} s: see its log; a low CPU limit can starve it",
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return _unread(
                UnreadReason.UNREACHABLE,
                f"{str(error) or type(error).__name__}: let a NetworkPolicy admit the operator to port {target.port}",
            )
        if isinstance(page, Unread):
            return page
        async with self.turn:  # one page in each round of the loop: hundreds at once would hold up everybody else
            await asyncio.sleep(0)
            return _reading_in(page, target)

    async def _page(self, target: Target) -> bytes | Unread:
        url = URL.build(scheme="http", host=target.address, port=target.port, path=_PATH)
        async with self.session.get(url, allow_redirects=False) as response:
            if refusal := _refusal(response):
                return refusal
            page = bytearray()
            async for chunk in response.content.iter_any():
                page += chunk
                if len(page) > self.limits.page_bytes:
                    return _unread(
                        UnreadReason.TOO_LARGE,
                        f"more than {self.limits.page_bytes >> 20} MiB of metrics: {_WRONG_LISTENER}",
                    )
            return bytes(page)


@asynccontextmanager
async def pods(limits: Limits | None = None) -> AsyncIterator[Pods]:
    """The source, as long as the block runs.

    Each scrape has a connection of its own: some engines hold a thread for an idle one.
    """
    limits = limits or Limits()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    ) as session:
        yield Pods(session=session, limits=limits)


def _reading_in(page: bytes, target: Target) -> Reading | Unread:
    samples = scan(page, wanted(target.readings))
    if not samples and not has_samples(page):
        return _unread(
            UnreadReason.NOT_METRICS,
            f"{_PATH} answers, but not with metrics: {_WRONG_LISTENER}",
        )
    if not samples and (names := names_in(page)) and not is_of_engine(names, target.readings):
        return of_another_engine(target.readings)
    return reading_from(samples, target.readings, time.time())


def _refusal(response: aiohttp.ClientResponse) -> Unread | None:
    """What an answer other than plain metrics means; None where it is one."""
    status = response.status
    if status in _UNAUTHORIZED:
        return _unread(
            UnreadReason.UNAUTHORIZED,
            f"HTTP {status} for {_PATH}: leave out what sets a key in the engine; keys belong to a gateway in front",
        )
    if 300 <= status < 400:  # noqa: PLR2004
        where = redacted(response.headers.get("Location", "somewhere else"), _LONGEST_ADDRESS)
        return _unread(
            UnreadReason.REDIRECTED,
            f"{_PATH} leads to {where}, and redirects are not followed: leave out the argument that moves it",
        )
    if status != 200:  # noqa: PLR2004
        return _unread(UnreadReason.REFUSED, f"HTTP {status} for {_PATH}: see the log of the pod")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return _unread(
            UnreadReason.NOT_METRICS, f"{_PATH} is packed although that was not asked for: {_WRONG_LISTENER}"
        )
    return None


def _unread(reason: UnreadReason, message: str) -> Unread:
    return Unread(reason=reason, message=message)
