"""So much a second and no more, for each of many who are told apart by a name."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Rations:
    """Each name may take `burst` at once and `per_second` on average.

    At most `names` are remembered, of which the one that took least recently is forgotten first: it starts anew with a
    full ration. `clock` gives monotonic seconds.
    """

    per_second: float
    burst: float
    names: int = 1024
    clock: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, name: str) -> bool:
        """Take one; false when nothing is left."""
        now = self.clock()
        left, at = self._left.pop(name, (self.burst, now))
        left = min(self.burst, left + (now - at) * self.per_second)
        self._left[name] = (left - 1, now) if left >= 1 else (left, now)
        if len(self._left) > self.names:
            self._left.popitem(last=False)
        return left >= 1
