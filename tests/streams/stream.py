"""One streamed chat completion: asked for, followed token by token, and judged when it has ended."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import aiohttp


class Ending(StrEnum):
    """How a stream ended. One that was accepted and did not come whole is truncated, even if no token had come."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    REFUSED = "refused"


@dataclass(slots=True, kw_only=True)
class Stream:
    """One request for `tokens` tokens. Times are seconds of `time.monotonic`; None: not come so far.

    `problem` says what came instead of the next token, `gap` is the longest silence between two of them. Who reads it
    takes `pace` seconds over each.
    """

    tokens: int
    pace: float = 0.0
    sent: float = field(default_factory=time.monotonic)
    first: float | None = None
    ended: float | None = None
    gap: float = 0.0
    problem: str = ""
    ending: Ending | None = None
    _last: float = 0.0
    _finish_reason: str = ""
    _received: int = 0
    _done: bool = False

    @property
    def is_streaming(self) -> bool:
        """Whether tokens have come and others are still to come."""
        return self.first is not None and self.ended is None

    async def follow(self, session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> None:
        """Ask, and read to the end; what goes wrong is written down, never raised."""
        accepted = False
        try:
            async with session.post(url, json=body) as response:
                accepted = response.status < 500
                if response.status != 200:
                    self.problem = f"{response.status}: {(await response.text())[:200]}"
                async for event in _events(response):
                    self._take(event)
                    if self.pace:
                        await asyncio.sleep(self.pace)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            self.problem = str(error)
        except (aiohttp.ClientError, TimeoutError) as error:
            accepted = True
            self.problem = f"{type(error).__name__}: {error}"
        self.ended = time.monotonic()
        self.ending = self._judged(accepted=accepted)

    def _take(self, event: str) -> None:
        now = time.monotonic()
        if event == "[DONE]":
            self._done = True
            return
        chunk = json.loads(event)
        if "error" in chunk:
            self.problem = event[:200]
        self._received = (chunk.get("usage") or {}).get("completion_tokens", self._received)
        for choice in chunk.get("choices") or ():
            self._finish_reason = choice.get("finish_reason") or self._finish_reason
        if self.first is None:
            self.first = now
        else:
            self.gap = max(self.gap, now - self._last)
        self._last = now

    def _judged(self, *, accepted: bool) -> Ending:
        whole = self._done and self._finish_reason == "length" and self._received == self.tokens
        if whole and not self.problem:
            return Ending.COMPLETE
        self.problem = self.problem or (
            f"{self._received} of {self.tokens} tokens, finish_reason {self._finish_reason!r}, [DONE]: {self._done}"
        )
        return Ending.TRUNCATED if accepted else Ending.REFUSED


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    """The data of server-sent events, each on a line of its own as every engine writes them."""
    async for line in response.content:
        text = line.decode()
        if text.startswith("data: "):
            yield text.removeprefix("data: ").strip()
