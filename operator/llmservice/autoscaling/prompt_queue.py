"""How many prompts wait too long, before any was seen: a queue in front of one reader (M/G/1).

An engine reads one prompt after the other, c tokens/s when it does nothing else, so long prompts hold each other up
while every step is still fast and the KV cache almost empty. At X tokens/s it is busy a share rho = X / c of the time.
"""

import math

_REST = 0.3
"""Of the time to read a mean prompt: how long the one being read still takes. Half for equal prompts that come to a
random replica, less where a router picks an idle one, more where lengths differ; measurements correct it."""

_NEGLIGIBLE = 12.0


def patience(tokens_per_prompt: float, fastest: float, ttft_seconds: float) -> float:
    """What the objective leaves for waiting, in rests R of a prompt: (TTFT - s) / R, R = 0.3 s, s = reading a mean one.

    `fastest` = c in tokens/s. Negative where the mean prompt alone takes longer than the objective.
    """
    reading = tokens_per_prompt / fastest
    return (ttft_seconds - reading) / (_REST * reading)


def late_share(busy: float, patience_: float) -> float:
    """Share of prompts that wait too long: rho exp(-(1 - rho) patience), Kingman's limit, exact for M/M/1."""
    return min(1.0, busy * math.exp(min(0.0, (busy - 1) * patience_)))


def least_busy(patience_: float) -> float:
    """The share of time below which next to no prompt waits too long: fewer than one in 100,000."""
    return max(0.0, 1 - _NEGLIGIBLE / max(_NEGLIGIBLE, patience_))
