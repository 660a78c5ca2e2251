"""A level-triggered work queue: each key is queued once and processed by one worker at a time; tenants take turns."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from llmservice.fairness.fair_queue import FairQueue
from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.pauses import backoff, jittered

Key = TypeVar("Key", bound=Hashable)

_FIRST_RETRY_SECONDS = 0.2
_LONGEST_RETRY_SECONDS = 60.0
_PASSES_AT_ONCE = 20
_PASS_EACH_SECONDS = 0.5
"""A resource that changes without end is reconciled twice a second; no start or rollout needs twenty faster passes."""


def _itself(key: Hashable) -> Hashable:
    return key


@dataclass(slots=True)
class WorkQueue(Generic[Key]):
    """Keys to reconcile, each at most once. Tenants take turns; the keys of one tenant are first in, first out.

    A key that is added while it is processed is queued again afterwards. Of several delays of a key the shortest
    counts. One tenant occupies all workers only as long as no other has ever had a key in the queue, and a key that
    keeps changing is processed twice a second. By default each key is a tenant of its own. Belongs to one event loop;
    not thread-safe.
    """

    chance: Callable[[], float] = random.random
    tenant: Callable[[Key], Hashable] = _itself
    _queue: FairQueue[Hashable, Key] = field(default_factory=FairQueue)
    _passes: TokenBuckets[Key] = field(
        default_factory=lambda: TokenBuckets(burst=_PASSES_AT_ONCE, seconds=_PASS_EACH_SECONDS)
    )
    _idle: dict[asyncio.Future[Key], None] = field(default_factory=dict)
    _waiting: set[Key] = field(default_factory=set)
    _working: set[Key] = field(default_factory=set)
    _again: set[Key] = field(default_factory=set)
    _timers: dict[Key, asyncio.TimerHandle] = field(default_factory=dict)
    _failures: dict[Key, int] = field(default_factory=dict)

    def add(self, key: Key) -> None:
        """Process this key as soon as a worker is free and it is its tenant's turn."""
        if key in self._waiting:
            return
        if key in self._working:
            self._cancel_timer(key)
            self._again.add(key)
        elif pause := self._passes.wait_seconds(key, time.monotonic()):
            self.add_after(key, pause)
        else:
            self._cancel_timer(key)
            self._waiting.add(key)
            self._queued(key)
            self._queue.add(self.tenant(key), key)
            self._hand_out()

    def add_after(self, key: Key, seconds: float) -> None:
        """Process this key in so many seconds, or earlier if it is added before."""
        if key in self._waiting:
            return
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        self._cancel_timer(key)
        self._timers[key] = loop.call_later(seconds, self._due, key)

    def retry(self, key: Key, at_least_seconds: float = 0.0) -> float:
        """Retry a failed key with exponential back-off; returns the seconds until then."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        pause = backoff(failures - 1, _FIRST_RETRY_SECONDS, _LONGEST_RETRY_SECONDS)
        seconds = max(at_least_seconds, jittered(pause, chance=self.chance))
        self.add_after(key, seconds)
        return seconds

    def succeeded(self, key: Key) -> None:
        """Reset the back-off of this key."""
        self._failures.pop(key, None)

    def forget(self, key: Key) -> None:
        """Drop delay and back-off of a deleted key."""
        self._cancel_timer(key)
        self._failures.pop(key, None)

    async def take(self) -> Key:
        """The next key; it belongs to the caller until `done`."""
        worker: asyncio.Future[Key] = asyncio.get_running_loop().create_future()
        self._idle[worker] = None
        self._hand_out()
        try:
            return await worker
        except asyncio.CancelledError:
            self._idle.pop(worker, None)
            if worker.done() and not worker.cancelled():  # handed out and not received
                self._again.add(worker.result())
                self._give_back(worker.result())
            raise

    def done(self, key: Key) -> None:
        """Give a key back; it is queued again if it was added meanwhile."""
        self._give_back(key)

    def __len__(self) -> int:
        return len(self._waiting)

    def _queued(self, key: Key) -> None:
        """Called when a key is queued."""

    def _give_back(self, key: Key) -> None:
        self._working.discard(key)
        self._queue.release(self.tenant(key))
        if key in self._again:
            self._again.discard(key)
            self.add(key)
        self._hand_out()

    def _hand_out(self) -> None:
        idle = deque(worker for worker in self._idle if not worker.cancelled())
        while handed := self._queue.next(len(idle), leave_room=self._queue.is_shared):
            _, key = handed
            self._waiting.discard(key)
            self._working.add(key)
            self._passes.spend(key, time.monotonic())
            worker = idle.popleft()
            del self._idle[worker]
            worker.set_result(key)

    def _due(self, key: Key) -> None:
        del self._timers[key]
        self.add(key)

    def _cancel_timer(self, key: Key) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
