"""Clients of a service that sleeps: what each was answered, and when."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import aiohttp

_LONGEST_SECONDS = 300
BROKEN = -1
"""Instead of a status: the connection broke, or no answer came."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request. `sent` and `answered` are monotonic seconds; `code` is that of an error of the activator's."""

    status: int
    sent: float
    answered: float
    code: str = ""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.answered - self.sent


async def ask_at_once(address: str, requests: int, *, spread_seconds: float = 0.0, tokens: int = 4) -> list[Outcome]:
    """So many requests, each on a connection of its own, evenly spread over some seconds; in the order of sending."""
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    limits = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
    async with aiohttp.ClientSession(connector=connector, timeout=limits) as session:
        tasks = []
        for _ in range(requests):
            tasks.append(asyncio.create_task(ask(session, address, tokens=tokens)))
            await asyncio.sleep(spread_seconds / requests)
        return list(await asyncio.gather(*tasks))


async def ask(session: aiohttp.ClientSession, address: str, *, model: str = "chat", tokens: int = 4) -> Outcome:
    """One chat completion, read to its end."""
    body = {"model": model, "max_tokens": tokens, "messages": [{"role": "user", "content": "hello"}]}
    sent = time.monotonic()
    try:
        async with session.post(f"{address}/v1/chat/completions", json=body) as response:
            text = await response.text()
            return Outcome(response.status, sent, time.monotonic(), _code(text))
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return Outcome(BROKEN, sent, time.monotonic(), type(error).__name__)


def told(outcomes: Sequence[Outcome]) -> str:
    """How many of each status, and how long they took."""
    counts = Counter((each.status, each.code) for each in outcomes)
    lines = []
    for (status, code), count in sorted(counts.items()):
        times = sorted(each.seconds for each in outcomes if (each.status, each.code) == (status, code))
        middle, late = times[len(times) // 2], times[int(len(times) * 0.99)]
        lines.append(f"{count} × {status} {code}: p50 {middle:.3f} s, p99 {late:.3f} s, longest {times[-1]:.3f} s")
    return "; ".join(lines)


def overtaken(outcomes: Sequence[Outcome], slack: int) -> int:
    """How many were answered before more than `slack` that were sent earlier: 0 where waiting is in order."""
    order = sorted(range(len(outcomes)), key=lambda at: outcomes[at].answered)
    return sum(place + slack < at for place, at in enumerate(order))


def _code(text: str) -> str:
    try:
        error = json.loads(text).get("error")
    except (ValueError, AttributeError):
        return ""
    return str(error.get("code", "")) if isinstance(error, dict) else ""
