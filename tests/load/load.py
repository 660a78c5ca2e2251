"""A fixed load on one service: requests at given rates, each on a connection of its own, and how each one ended."""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import aiohttp

from tests.cluster.kube import Kube

LONGEST_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """So many requests per second for so many seconds."""

    seconds: float
    requests_per_second: float


@dataclass(slots=True)
class Outcome:
    """One request: seconds since the load began at which it was sent and ended, and its answer ("200" or an error)."""

    sent: float
    ended: float | None = None
    answer: str = ""


@dataclass
class Load:
    """Streams of chat completions in the background; `with` waits for the last answer.

    A connection each, as from many clients: kube-proxy chooses a replica per connection.
    """

    kube: Kube
    stretches: Sequence[Stretch]
    name: str = "chat"
    max_tokens: int = 32
    prompt: str = "hello " * 20
    outcomes: list[Outcome] = field(default_factory=list)
    _thread: threading.Thread = field(init=False)
    _began: float = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._drive()), name="load")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    @property
    def running(self) -> bool:
        """Whether requests are still sent or answered."""
        return self._thread.is_alive()

    @property
    def failed(self) -> list[Outcome]:
        """What did not end with an answer."""
        return [outcome for outcome in self.outcomes if outcome.ended is not None and outcome.answer != "200"]

    async def _drive(self) -> None:
        address = self._address()
        timeout = aiohttp.ClientTimeout(total=LONGEST_SECONDS)
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session, asyncio.TaskGroup() as group:
            due = 0.0
            for stretch in self.stretches:
                end = due + stretch.seconds
                while stretch.requests_per_second > 0 and due < end:
                    await asyncio.sleep(max(0.0, due - self._now()))
                    group.create_task(self._ask(session, address))
                    due += 1 / stretch.requests_per_second
                due = end
                await asyncio.sleep(max(0.0, due - self._now()))

    async def _ask(self, session: aiohttp.ClientSession, address: str) -> None:
        body = {
            "model": self.name,
            "max_tokens": self.max_tokens,
            "stream": True,
            "ignore_eos": True,  # a random model would end wherever it likes
            "messages": [{"role": "user", "content": f"{len(self.outcomes)} {self.prompt}"}],
        }
        outcome = Outcome(sent=self._now())
        self.outcomes.append(outcome)
        try:
            async with session.post(f"{address}/v1/chat/completions", json=body) as response:
                text = await response.text()
                outcome.answer = str(response.status) if "[DONE]" in text else f"{response.status} cut: {text[-200:]}"
        except (aiohttp.ClientError, TimeoutError) as error:
            outcome.answer = f"{type(error).__name__}: {error}"
        outcome.ended = self._now()

    def _address(self) -> str:
        service = self.kube.get("Service", self.name)
        assert service is not None
        return f"http://{service['spec']['clusterIP']}"

    def _now(self) -> float:
        return time.monotonic() - self._began
