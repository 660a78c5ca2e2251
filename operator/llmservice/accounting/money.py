"""Amounts of money as text: the same amount is always the same text."""

from decimal import ROUND_HALF_UP, Decimal

_CENT, _FINE = Decimal("0.01"), Decimal("0.0001")


def amount(value: float) -> str:
    """To the hundredth: `31.20`."""
    return str(Decimal(repr(value)).quantize(_CENT, ROUND_HALF_UP))


def rate(value: float) -> str:
    """Of a price: at least two digits behind the point and at most four, `0.80` or `0.5265`."""
    fine = Decimal(repr(value)).quantize(_FINE, ROUND_HALF_UP)
    return str(fine.quantize(_CENT)) if fine == fine.quantize(_CENT) else str(fine.normalize())
