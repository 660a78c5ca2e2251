"""Pauses between two tries: longer after each failure in a row, and not the same for all who wait."""

import random
from collections.abc import Callable

_MOST_DOUBLINGS = 16


def backoff(failures: int, first_seconds: float, longest_seconds: float) -> float:
    """Seconds to wait after so many failures in a row: the first pause after none, twice as long after each more."""
    return min(longest_seconds, first_seconds * 2.0 ** min(failures, _MOST_DOUBLINGS))


def jittered(seconds: float, spread: float = 0.5, chance: Callable[[], float] = random.random) -> float:
    """At most the given seconds, and shorter by up to `spread` (0–1) of them, evenly; `chance` returns 0–1.

    What failed together must not come back together. A pause that is never longer than it says keeps its bounds.
    """
    return seconds * (1 - spread + spread * chance())
