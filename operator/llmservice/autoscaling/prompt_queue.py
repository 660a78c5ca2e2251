"""The load up to which prompts are read in time: a queue in front of one reader (M/G/1), its spread learnt from TTFT.

An engine reads one prompt after the other, `c` tokens/s when it does nothing else. At X tokens/s it is busy a share
rho = X / c of the time; a prompt that comes then waits for the rest of the one being read and for those before it.
"""

import dataclasses
import math

from llmservice.autoscaling.memory import Capacity

_LATE_SHARE = 0.01
"""Prompts that may wait for longer than the objective leaves."""

_ASSUMED_REQUESTS = 30.0
_ASSUMED_REST = 0.75
"""Until measured: the rest of a prompt being read takes 0.75 of a mean prompt, as for sizes that spread by 0.7."""

_REQUESTS_REMEMBERED = 2000.0
_LEAST_SHARE = 0.2
"""Of c: an objective that cannot be met still leaves something."""

_MOST_BUSY = 0.85
"""Beyond, mean waiting times say more about the last surge than about prompts."""


def within_ttft(capacity: Capacity, tokens_per_prompt: float, fastest: float, ttft_seconds: float) -> float:
    """Tokens/s of one replica at which one prompt in a hundred waits too long; `fastest` = c in tokens/s.

    The wait w has the tail P(w > t) = rho exp(-(1 - rho) t / R), exact for M/M/1 and Kingman's limit else; R = seconds
    of rest, E[S^2] / 2 E[S]. t = objective - time to read the mean prompt.
    """
    reading = tokens_per_prompt / fastest
    spare = (ttft_seconds - reading) / rest_seconds(capacity, reading)
    low, high = _LEAST_SHARE, 1.0
    for _ in range(7):
        middle = (low + high) / 2
        late = middle * math.exp(-(1 - middle) * spare)
        low, high = (middle, high) if late <= _LATE_SHARE else (low, middle)
    return low * fastest


def rest_seconds(capacity: Capacity, reading: float) -> float:
    """R: measured, and for as much as 30 requests 0.75 of the time that a mean prompt takes to read."""
    seen = capacity.residual_requests
    return (_ASSUMED_REQUESTS * _ASSUMED_REST * reading + capacity.residual_seconds) / (_ASSUMED_REQUESTS + seen)


def with_waiting(
    capacity: Capacity, *, prompts: float, ttft_seconds: float, busy: float, reading: float
) -> Capacity:
    """The capacity with a minute in which so many prompts took so long, in sum, to their first token.

    Pollaczek and Khinchine: mean wait = rho / (1 - rho) R, so R = (mean TTFT - reading) (1 - rho) / rho.
    """
    if prompts <= 0 or not 0 < busy <= _MOST_BUSY:
        return capacity
    rest = max(0.0, ttft_seconds / prompts - reading) * (1 - busy) / busy
    kept = min(1.0, _REQUESTS_REMEMBERED / (capacity.residual_requests + prompts))
    return dataclasses.replace(
        capacity,
        residual_seconds=kept * (capacity.residual_seconds + prompts * rest),
        residual_requests=kept * (capacity.residual_requests + prompts),
    )
