"""The few formulas that more than one step needs."""

from collections.abc import Sequence


def clip(value: float, low: float, high: float) -> float:
    """The value, no less than `low` and no more than `high`."""
    return low if value < low else min(value, high)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value."""
    return sum(values) / len(values)


def nearing(old: float, new: float, weight: float) -> float:
    """An exponential mean: `weight` (0–1) of the way from `old` to `new`."""
    return old + weight * (new - old)


def tokens_text(tokens: float) -> str:
    """Tokens for a sentence: 42.0k from one thousand on, 640 below."""
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else f"{tokens:.0f}"  # noqa: PLR2004
