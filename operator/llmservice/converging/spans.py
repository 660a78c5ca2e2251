"""Lengths of time as people write them."""

_MINUTE, _HOUR = 60, 3600


def span(seconds: float) -> str:
    """Such as `45s`, `2m10s` or `3h05m`; seconds are left out above an hour."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{rest}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02d}m" if hours else f"{minutes}m{rest:02d}s"


def roughly(seconds: float) -> str:
    """Of an estimate, in the unit that people would use: 40 s, 14 min, 3.5 h."""
    if seconds < 2 * _MINUTE:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / _MINUTE)} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


_STEPS = (30, 60, 120, 180, 300, 600, 900, 1200, 1800, 2700, 3600)


def step(seconds: float) -> float:
    """The length rounded down to one of few steps (half a minute, one, two, … then hours); 0 below the first.

    For a status: it is written once for each step and not every second.
    """
    if seconds >= _STEPS[-1]:
        return seconds // 3600 * 3600.0
    return float(max((each for each in _STEPS if each <= seconds), default=0))
