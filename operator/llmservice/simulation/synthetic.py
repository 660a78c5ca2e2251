"""Loads made of kinds of requests: long prompts, mixed lengths, a mix that changes, calm days."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from llmservice.simulation.request import Arrival

Curve = Sequence[tuple[float, float]]
"""(seconds, value), with straight lines between the points; at least two, the first at 0."""

_LARGEST_SHARE_OF_MEAN = 4.0
"""Sizes are cut here, so that no single request decides a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Requests of one kind: tokens of a mean prompt and answer; both are log-normal with `spread` (deviation / mean).

    `rate` is how many arrive a second, over time.
    """

    prompt: float
    answer: float
    spread: float
    rate: Curve


def arrivals_of(kinds: Sequence[Kind], *, seed: int) -> list[Arrival]:
    """All kinds together, each an independent Poisson process."""
    return sorted(arrival for number, kind in enumerate(kinds) for arrival in _arrivals(kind, seed * 97 + number))


def day(*, hours: float, low: float, high: float) -> Curve:
    """A calm day squeezed into so many hours: from the low to the high and back along a cosine, in steps of 5 min."""
    end, middle, swing = hours * 3600, (low + high) / 2, (high - low) / 2
    steps = round(end / 300)
    return [(end * step / steps, middle - swing * math.cos(2 * math.pi * step / steps)) for step in range(steps + 1)]


def _arrivals(kind: Kind, seed: int) -> list[Arrival]:
    chance = random.Random(seed)  # noqa: S311  (a simulation repeats itself)
    made = list[Arrival]()
    for (start, first), (end, last) in pairwise(kind.rate):
        at, largest = start, max(first, last, 1e-9)
        while (at := at + chance.expovariate(largest)) < end:
            if chance.random() * largest <= first + (last - first) * (at - start) / (end - start):
                made.append(
                    Arrival(at, _size(chance, kind.prompt, kind.spread), _size(chance, kind.answer, kind.spread))
                )
    return made


def _size(chance: random.Random, mean: float, spread: float) -> int:
    """Tokens, log-normal with this mean; at least 4."""
    variance = math.log(1 + spread * spread)
    drawn = chance.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))
    return max(4, round(min(drawn, _LARGEST_SHARE_OF_MEAN * mean)))
