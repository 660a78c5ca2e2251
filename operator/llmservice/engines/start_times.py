"""How long the parts of an engine's start took, as far as its log says."""

from dataclasses import dataclass

from llmservice.engines.start_report import decimal
from llmservice.untrusted.patterns import Finder

LONGEST_SECONDS = 86_400.0
"""No part of a start takes longer than the largest budget: what is said to is nothing that can be believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimes:
    """Each None where the log does not say it.

    `download_seconds`: fetching the weights, before they are loaded. `loaded_at`: when the weights were in memory, in
    seconds since 1970, by the node's clock. `compile_seconds`: compiling kernels and graphs, afterwards.
    """

    download_seconds: float | None = None
    loaded_at: float | None = None
    compile_seconds: float | None = None


UNTIMED = StartTimes()
"""Of a log that says nothing, or cannot be read."""


def longest(pattern: Finder, text: str) -> float | None:
    """The largest number in the group `seconds` of all matches; None where there is none.

    Of several processes of one engine the slowest counts: the others wait for it.
    """
    numbers = [decimal(found["seconds"]) for found in pattern.each(text)]
    return max((number for number in numbers if number is not None and number <= LONGEST_SECONDS), default=None)


def seconds_between(begin: float | None, end: float | None) -> float | None:
    """From one moment to another; None where one is not known, or they are in the wrong order."""
    if begin is None or end is None or not 0 <= end - begin <= LONGEST_SECONDS:
        return None
    return end - begin
