"""A level-triggered work queue: a key is in it once, and is worked on by one worker at a time."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key")

_FIRST_RETRY_SECONDS = 0.2
_LONGEST_RETRY_SECONDS = 60.0


@dataclass(slots=True)
class WorkQueue(Generic[Key]):
    """Keys to look at, each at most once, in the order they came.

    A key added while it is worked on comes again afterwards. A delayed key is brought forward by an earlier wish and
    never put off by a later one. Belongs to one event loop; not thread-safe.
    """

    jitter: Callable[[], float] = random.random
    _ready: asyncio.Queue[Key] = field(default_factory=asyncio.Queue)
    _waiting: set[Key] = field(default_factory=set)
    _working: set[Key] = field(default_factory=set)
    _again: set[Key] = field(default_factory=set)
    _timers: dict[Key, asyncio.TimerHandle] = field(default_factory=dict)
    _failures: dict[Key, int] = field(default_factory=dict)

    def add(self, key: Key) -> None:
        """Look at this key as soon as a worker is free."""
        self._cancel_timer(key)
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: Key, seconds: float) -> None:
        """Look at this key in so many seconds, or earlier if something else asks for it."""
        if key in self._waiting:
            return
        loop = asyncio.get_running_loop()
        timer = self._timers.get(key)
        if timer is not None and timer.when() <= loop.time() + seconds:
            return
        self._cancel_timer(key)
        self._timers[key] = loop.call_later(seconds, self.add, key)

    def retry(self, key: Key, at_least_seconds: float = 0.0) -> float:
        """Look at a failed key again, later after each failure in a row; returns the seconds until then."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        pause = min(_LONGEST_RETRY_SECONDS, _FIRST_RETRY_SECONDS * 2.0 ** min(failures - 1, 16))
        seconds = max(at_least_seconds, pause * (0.75 + 0.5 * self.jitter()))
        self.add_after(key, seconds)
        return seconds

    def succeeded(self, key: Key) -> None:
        """Forget earlier failures of this key."""
        self._failures.pop(key, None)

    def forget(self, key: Key) -> None:
        """Drop delays and failures of a key that is gone."""
        self._cancel_timer(key)
        self._failures.pop(key, None)

    async def take(self) -> Key:
        """The next key; it belongs to the caller until `done`."""
        key = await self._ready.get()
        self._waiting.discard(key)
        self._working.add(key)
        return key

    def done(self, key: Key) -> None:
        """Give a key back; it comes again if it was added meanwhile."""
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def __len__(self) -> int:
        return len(self._waiting)

    def _cancel_timer(self, key: Key) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
