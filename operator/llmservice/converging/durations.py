"""Lengths of time as messages tell them."""

_MINUTE, _HOUR = 60, 3600


def duration(seconds: float) -> str:
    """In whole seconds: 48s, 3m12s, 1h02m. From an hour on the seconds are left out."""
    whole = max(0, round(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"
