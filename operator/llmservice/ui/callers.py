"""Who looks at the page of a cluster: a reader for each token and namespace, and never one for two callers.

Nothing of a caller is shown to another: what was read goes by a keyed hash of the token that read it. A token counts
once the API server has answered to it; until then it is rationed by address and in all, so that no flood of invented
tokens asks the API server much or displaces those who look.
"""

import asyncio
import hmac
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from llmservice.errors import TooMuch, Unauthorized
from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.ui.reading import Reader

_MOST_READERS = 64
_KEPT_SECONDS = 600.0
_AT_ONCE, _AT_ONCE_EACH = 8, 2
"""Questions at the same time, and those of one caller: a page of a list takes some ten MiB while it is read."""
_MOST_ADDRESSES = 1024
_EVERYBODY = "everybody"
_Key = tuple[bytes, str]
Answer = TypeVar("Answer")


@dataclass(slots=True, eq=False, kw_only=True)
class Callers:
    """`reader_of` makes a reader for a token and a namespace (empty: all). Belongs to one event loop.

    `clock` is monotonic, in seconds.
    """

    reader_of: Callable[[str, str], Reader]
    clock: Callable[[], float] = time.monotonic
    newcomers: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=20, seconds=0.5, most_keys=_MOST_ADDRESSES)
    )
    newcomers_in_all: TokenBuckets[str] = field(default_factory=lambda: TokenBuckets(burst=100, seconds=0.05))
    known: TokenBuckets[bytes] = field(default_factory=lambda: TokenBuckets(burst=40, seconds=0.125, most_keys=1024))
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _readers: OrderedDict[_Key, tuple[Reader, float]] = field(default_factory=OrderedDict)
    _asking: Counter[bytes] = field(default_factory=Counter)
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def ask(
        self, token: str, address: str, namespace: str, question: Callable[[Reader], Awaitable[Answer]]
    ) -> Answer:
        """The answer to a question of whoever shows this token. Raises TooMuch, and what the question raises."""
        caller = hmac.digest(self._secret, token.encode(), "sha256")
        key = (caller, namespace)
        reader = self._reader(key) or self._newcomer(token, address, namespace)
        with self._place_of(caller):
            try:
                async with self._free:
                    answer = await question(reader)
            except Unauthorized:
                self._forget(caller)
                raise
        if reader.was_answered:
            self._keep(key, reader)
        return answer

    def __len__(self) -> int:
        """How many readers are kept."""
        return len(self._readers)

    def _reader(self, key: _Key) -> Reader | None:
        found = self._readers.get(key)
        return found[0] if found and found[1] > self.clock() else None

    def _newcomer(self, token: str, address: str, namespace: str) -> Reader:
        now = self.clock()
        if not (self.newcomers.take(address, now) and self.newcomers_in_all.take(_EVERYBODY, now)):
            raise TooMuch("TooMuch", "too many tokens that nobody knows yet: wait some seconds")
        return self.reader_of(token, namespace)

    @contextmanager
    def _place_of(self, caller: bytes) -> Iterator[None]:
        """One of the few questions of a caller at a time: no caller takes all places."""
        if self._asking[caller] >= _AT_ONCE_EACH or not self.known.take(caller, self.clock()):
            raise TooMuch("TooMuch", "this token asks too much: wait some seconds")
        self._asking[caller] += 1
        try:
            yield
        finally:
            self._asking[caller] -= 1
            if not self._asking[caller]:
                del self._asking[caller]

    def _keep(self, key: _Key, reader: Reader) -> None:
        """For a while after it was used last; the one that was used least recently gives way."""
        self._readers[key] = (reader, self.clock() + _KEPT_SECONDS)
        self._readers.move_to_end(key)
        while len(self._readers) > _MOST_READERS or next(iter(self._readers.values()))[1] <= self.clock():
            self._readers.popitem(last=False)

    def _forget(self, caller: bytes) -> None:
        for key in [key for key in self._readers if key[0] == caller]:
            del self._readers[key]
