"""How a scenario is made: its service, and a function from a recorded trace and a seed to its load."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llmservice.simulation.request import Arrival

LARGE_ENGINE, LARGEST_ENGINE, SMALL_ENGINE = "h100-34b-tp2", "a100-70b-tp4", "a100-8b"

MakeLoad = Callable[[Sequence[Arrival], int], Sequence[Arrival]]
"""(recorded trace, seed) to arrivals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a scenario is made; `trace` names the recorded load it needs, if any."""

    profile: str
    cold_start_seconds: float
    first: int
    maximum: int
    make: MakeLoad
    warm_up_seconds: float = 900.0
    minimum: int = 1
    trace: str = ""
