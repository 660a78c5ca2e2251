"""Rate limits: a token bucket for each key."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

_FULL_FORGOTTEN_AT = 1024


@dataclass(slots=True, kw_only=True)
class TokenBuckets(Generic[Key]):
    """A bucket of `burst` tokens for each key, into which one comes back every `seconds`.

    A bucket is one number, the moment at which it is full again (the generic cell rate algorithm, ITU-T I.371). `now`
    is any clock in seconds that never goes back. A full bucket is not remembered. Of `most_keys`, the key that asked
    least recently is forgotten first, and starts anew with a full bucket; None for no such bound.
    """

    burst: int
    seconds: float
    most_keys: int | None = None
    _full_at: OrderedDict[Key, float] = field(default_factory=OrderedDict)
    _forget_at: int = _FULL_FORGOTTEN_AT

    def wait_seconds(self, key: Key, now: float) -> float:
        """Seconds until there is a token; 0 when there is one now."""
        return max(0.0, self._full_at.get(key, now) - now - (self.burst - 1) * self.seconds)

    def spend(self, key: Key, now: float) -> None:
        """Take a token, also one that is not there yet."""
        self._full_at[key] = max(now, self._full_at.get(key, now)) + self.seconds
        self._full_at.move_to_end(key)
        if self.most_keys is not None and len(self._full_at) > self.most_keys:
            self._full_at.popitem(last=False)
        if len(self._full_at) >= self._forget_at:
            self._forget_full(now)

    def take(self, key: Key, now: float) -> bool:
        """Take a token if there is one; being refused costs nothing."""
        if self.wait_seconds(key, now) > 0:
            self._full_at.move_to_end(key)
            return False
        self.spend(key, now)
        return True

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._full_at)

    def _forget_full(self, now: float) -> None:
        self._full_at = OrderedDict((key, full_at) for key, full_at in self._full_at.items() if full_at > now)
        self._forget_at = max(_FULL_FORGOTTEN_AT, 2 * len(self._full_at))
