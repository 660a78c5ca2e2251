"""A closed loop of requests: so many are under way at any moment, whether the engine is fast or slow.

Requests at a given rate load a slow machine and leave a fast one idle. A number in flight is what KV cache, queue and
running requests follow on any machine.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp

_LONGEST_SECONDS = 600.0
_NOTICED_SECONDS = 0.1


@dataclass(slots=True)
class Outcome:
    """One request: seconds since the load began at which it was sent and ended, and its answer ("200" or an error)."""

    sent: float
    ended: float | None = None
    answer: str = ""


@dataclass
class InFlight:
    """Keeps `requests` chat completions under way while the `with` block runs; its end waits for the last answer.

    Each is streamed on a connection of its own, as from as many clients: kube-proxy chooses a replica per connection.
    Of a tokenizer that knows only letters, a character of `prompt` is a token. A client that was not answered pauses
    for `pause_seconds`, so that what refuses at once is not flooded.
    """

    address: str
    requests: int
    max_tokens: int = 32
    prompt: str = "hello " * 20
    model: str = "chat"
    pause_seconds: float = 1.0
    outcomes: list[Outcome] = field(default_factory=list)
    _began: float = 0.0
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._drive()), name="load")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hold(0)
        self._thread.join()

    def hold(self, requests: int) -> None:
        """So many from now on. Those beyond it are still answered; 0 ends the load."""
        self.requests = requests

    @property
    def failed(self) -> list[Outcome]:
        """What did not end with an answer."""
        return [outcome for outcome in self._ended() if outcome.answer != "200"]

    def measured(self) -> dict[str, Any]:
        """What the load was so far: for the message of a test that fails."""
        outcomes, now = [*self.outcomes], self._now()
        if not self._thread.is_alive():
            now = max((outcome.ended or 0.0 for outcome in outcomes), default=now)
        under_way = sum((now if outcome.ended is None else outcome.ended) - outcome.sent for outcome in outcomes)
        answered = sum(outcome.answer == "200" for outcome in outcomes)
        return {
            "seconds": round(now, 1),
            "requestsHeldInFlight": self.requests,
            "requestsInFlightNow": sum(outcome.ended is None for outcome in outcomes),
            "requestsInFlightOnAverage": round(under_way / now, 2),
            "answered": answered,
            "answeredPerSecond": round(answered / now, 3),
            "failures": [outcome.answer for outcome in self.failed][:5],
        }

    def _ended(self) -> Iterator[Outcome]:
        return (outcome for outcome in [*self.outcomes] if outcome.ended is not None)

    async def _drive(self) -> None:
        timeout = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        under_way: set[asyncio.Task[None]] = set()
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            while self.requests or under_way:
                missing = self.requests - len(under_way)
                under_way |= {asyncio.create_task(self._ask(session)) for _ in range(missing)}
                done, under_way = await asyncio.wait(
                    under_way, timeout=_NOTICED_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    task.result()

    async def _ask(self, session: aiohttp.ClientSession) -> None:
        outcome = Outcome(sent=self._now())
        self.outcomes.append(outcome)
        answer = await _answer_of(session, f"{self.address}/v1/chat/completions", self._body())
        outcome.answer, outcome.ended = answer, self._now()
        if answer != "200":
            await asyncio.sleep(self.pause_seconds)

    def _body(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "stream": True,
            "ignore_eos": True,  # a random model would end wherever it likes
            # The number comes first: engines share the cache of prompts that begin alike.
            "messages": [{"role": "user", "content": f"{len(self.outcomes)} {self.prompt}"}],
        }

    def _now(self) -> float:
        return time.monotonic() - self._began


async def _answer_of(session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> str:
    """ "200" for a stream that came to its end; else what came instead."""
    try:
        async with session.post(url, json=body) as response:
            text = await response.text()
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}"
    return str(response.status) if "[DONE]" in text else f"{response.status} cut: {text[-200:]}"
