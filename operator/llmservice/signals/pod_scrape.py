"""Readings from the pods themselves: GET /metrics at each pod's address, all at once, within bounds.

Never through a proxy, never after a redirect, never compressed: a pod may answer with anything, and nothing may cost
more than its share of time and memory.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.redaction import redacted
from llmservice.signals.byte_budget import FIRST_BYTES, ByteBudget
from llmservice.signals.exposition import MOST_LINES, has_samples, has_too_many_lines, names_in, scan
from llmservice.signals.pod_clock import PodClock
from llmservice.signals.pod_session import filled, pod_session
from llmservice.signals.round_robin import round_robin
from llmservice.signals.samples import is_of_engine, of_another_engine, reading_from, wanted
from llmservice.signals.slow_pods import SlowPods
from llmservice.signals.source import Target

_PATH = "/metrics"
_LONGEST_ADDRESS = 200
_LONGEST_ERROR = 300
_UNAUTHORIZED = (401, 403)
_WRONG_LISTENER = "something else than the engine listens on its port; correct the image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a round may cost: `pod_seconds` for one answer in full, `round_seconds` for all of them.

    A pod that takes longer than `slow_seconds` is scraped after the others in the next round. Of `page_bytes`, 16
    data-parallel engines of vLLM 0.32 fill half: 52 kB for one and 34 kB for each further one; TGI answers 20 kB,
    llama.cpp 3 kB. `at_once` connections and `large_at_once` pages beyond 64 kB take 47 MiB.
    """

    pod_seconds: float = 5.0
    round_seconds: float = 9.0
    slow_seconds: float = 2.0
    page_bytes: int = 2**20
    at_once: int = 192
    large_at_once: int = 8


@dataclass(frozen=True, slots=True)
class _Scrape:
    """One scrape under way. `room` is given back when the page has been read."""

    target: Target
    is_slow: bool
    clock: PodClock
    room: AsyncExitStack


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """Scrapes pods. Made by `pods`."""

    session: aiohttp.ClientSession
    limits: Limits
    budget: ByteBudget
    slow: SlowPods
    scanning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        """A Reading or a ReadFailure for each target, in `round_seconds` and the time to scan what has come by then.

        The order is round-robin over namespaces.
        """
        end = asyncio.get_running_loop().time() + self.limits.round_seconds
        ordered = round_robin(self.slow.behind(targets))
        answers = await asyncio.gather(*(self._scraped(target, end) for target in ordered))
        found = dict(zip(ordered, answers, strict=True))
        return {target: found[target] or self._passed_over(target) for target in targets}

    async def _scraped(self, target: Target, end: float) -> Reading | ReadFailure | None:
        """None where the round ended before its scrape."""
        is_slow = target in self.slow
        async with AsyncExitStack() as room:
            try:
                async with asyncio.timeout_at(end):
                    await room.enter_async_context(self.budget.connection(target.namespace, is_slow=is_slow))
            except TimeoutError:
                return None
            page = await self._one(_Scrape(target, is_slow, PodClock(self.limits.pod_seconds, end), room))
            if page is None or isinstance(page, ReadFailure):
                return page
            async with self.scanning:  # one page in each round of the loop: hundreds at once would hold up all others
                await asyncio.sleep(0)
                return _reading_in(bytes(page), target)

    async def _one(self, scrape: _Scrape) -> bytearray | ReadFailure | None:
        """The page, or why there is none; never raises. None where the round ended before there was room for it."""
        try:
            async with scrape.clock.running:
                return await self._page(scrape)
        except TimeoutError:
            return None if scrape.clock.is_stopped else _too_late(scrape.clock.given_seconds)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            why = redacted(str(error), _LONGEST_ERROR) or type(error).__name__
            return _unread(
                ReadFailureReason.UNREACHABLE,
                f"{why}: let a NetworkPolicy admit the operator to port {scrape.target.port}",
            )
        finally:
            if not scrape.clock.is_stopped:
                late = scrape.clock.running.expired() or scrape.clock.seconds > self.limits.slow_seconds
                self.slow.note(scrape.target, is_slow=late)

    async def _page(self, scrape: _Scrape) -> bytearray | ReadFailure:
        url = URL.build(scheme="http", host=scrape.target.address, port=scrape.target.port, path=_PATH)
        async with self.session.get(url, allow_redirects=False) as response:
            if problem := _refusal(response) or self._oversize(response.content_length or 0):
                return problem
            page = await filled(bytearray(), FIRST_BYTES, response.content)
            if len(page) >= FIRST_BYTES:
                async with scrape.clock.stopped():
                    await scrape.room.enter_async_context(
                        self.budget.rest(scrape.target.namespace, is_slow=scrape.is_slow)
                    )
                await filled(page, self.limits.page_bytes + 1, response.content)
            return self._oversize(len(page)) or page

    def _oversize(self, size: int) -> ReadFailure | None:
        if size <= self.limits.page_bytes:
            return None
        return _unread(
            ReadFailureReason.TOO_LARGE, f"more than {self.limits.page_bytes >> 20} MiB of metrics: {_WRONG_LISTENER}"
        )

    def _passed_over(self, target: Target) -> ReadFailure:
        why = _why_passed_over(self.slow.in_namespace(target.namespace), len(self.slow))
        return _unread(
            ReadFailureReason.PASSED_OVER, f"not asked within the round of {self.limits.round_seconds:g} s: {why}"
        )


@asynccontextmanager
async def pods(limits: Limits | None = None) -> AsyncIterator[Pods]:
    """The source, as long as the block runs."""
    limits = limits or Limits()
    slow = SlowPods()
    budget = ByteBudget(
        page_bytes=limits.page_bytes,
        connections=limits.at_once,
        large_pages=limits.large_at_once,
        is_new=slow.is_new,
    )
    async with pod_session() as session:
        yield Pods(session=session, limits=limits, budget=budget, slow=slow)


def _too_late(seconds: float) -> ReadFailure:
    return _unread(
        ReadFailureReason.TIMED_OUT,
        f"no full answer within {seconds:.2g} s: see its log; a low CPU limit can starve it",
    )


def _why_passed_over(late_beside_it: int, late: int) -> str:
    if late_beside_it:
        return f"{late_beside_it} pods of its namespace answer late or not at all; see those that are TimedOut"
    if late:
        return f"{late} pods of other namespaces answer late or not at all; it comes before them in the next round"
    return "no pod answered late, the operator itself could not ask more of them; give it more CPU, or split the fleet"


def _reading_in(page: bytes, target: Target) -> Reading | ReadFailure:
    if has_too_many_lines(page):
        return _unread(ReadFailureReason.TOO_LARGE, f"more than {MOST_LINES} lines of metrics: {_WRONG_LISTENER}")
    samples = scan(page, wanted(target.metric_names))
    if not samples and not has_samples(page):
        return _unread(
            ReadFailureReason.NOT_METRICS,
            f"{_PATH} answers, but not with metrics: {_WRONG_LISTENER}",
        )
    if not samples and (names := names_in(page)) and not is_of_engine(names, target.metric_names):
        return of_another_engine(target.metric_names)
    return reading_from(samples, target.metric_names, time.time())


def _refusal(response: aiohttp.ClientResponse) -> ReadFailure | None:
    """What an answer other than plain metrics means; None where it is one."""
    status = response.status
    if status in _UNAUTHORIZED:
        return _unread(
            ReadFailureReason.UNAUTHORIZED,
            f"HTTP {status} for {_PATH}: leave out what sets a key in the engine, and use spec.auth.keysSecretRef",
        )
    if 300 <= status < 400:  # noqa: PLR2004
        where = redacted(response.headers.get("Location", "somewhere else"), _LONGEST_ADDRESS)
        return _unread(
            ReadFailureReason.REDIRECTED,
            f"{_PATH} leads to {where}, and redirects are not followed: leave out the argument that moves it",
        )
    if status != 200:  # noqa: PLR2004
        return _unread(ReadFailureReason.REFUSED, f"HTTP {status} for {_PATH}: see the log of the pod")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        return _unread(
            ReadFailureReason.NOT_METRICS, f"{_PATH} is packed although that was not asked for: {_WRONG_LISTENER}"
        )
    return None


def _unread(reason: ReadFailureReason, message: str) -> ReadFailure:
    return ReadFailure(reason=reason, message=message)
