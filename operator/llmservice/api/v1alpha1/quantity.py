"""Quantities of CPU, memory and storage, parsed once to the form the API server stores.

The canonical form follows k8s.io/apimachinery/pkg/api/resource (`ParseQuantity`, `Quantity.CanonicalizeBytes`) and the
defaulting of pods, which rounds up to thousandths (k8s.io/kubernetes/pkg/apis/core/v1, `SetDefaults_ResourceList`).
"""

from decimal import ROUND_UP, Context, Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from llmservice.api.v1alpha1.base import VALIDATIONS
from llmservice.untrusted.patterns import Match, compiled

WRONG_QUANTITY = "wrong_quantity"
"""The error type of pydantic for a quantity that cannot be read."""

_LONGEST = 32
_ENDS_BELOW = Decimal(10) ** 15
_STEP = Decimal("0.001")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_WRITTEN = compiled(
    r"\+?(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?:(?P<unit>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]{1,2}))?"
)
_EXACT = Context(prec=120)

_MESSAGE = "is not an amount: write 500m or 2 for CPU, 8Gi for memory, below 1P"


def amount_of(text: str) -> Decimal:
    """The value in cores or bytes, rounded up to thousandths; ValueError when it cannot be read or is 1P or more."""
    match = _WRITTEN.whole(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(_MESSAGE)
    exact = _EXACT.multiply(Decimal(match["number"]), _multiplier(match))
    amount = exact.quantize(_STEP, rounding=ROUND_UP, context=_EXACT)
    if amount >= _ENDS_BELOW:
        raise ValueError(_MESSAGE)
    return amount


def canonical(text: str) -> str:
    """The same amount as the API server writes it: "0.5" is "500m", "1024Mi" is "1Gi"."""
    amount = amount_of(text)
    if amount == 0:
        return "0"
    if text.endswith("i") and amount >= 1024 and amount == amount.to_integral_value():  # noqa: PLR2004
        return _in_binary(int(amount))
    return _in_decimal(amount, as_exponent="e" in text.lower() and not text.endswith(("E", "Ei")))


def _multiplier(match: Match) -> Decimal:
    unit = match["unit"]
    if unit in _BINARY:
        return Decimal(1024 ** _BINARY[unit])
    return Decimal(10) ** int(match["exponent"] or _DECIMAL[unit])


def _in_binary(amount: int) -> str:
    power = 0
    while amount % 1024 == 0 and power < len(_BINARY):
        amount, power = amount // 1024, power + 1
    return f"{amount}{['', *_BINARY][power]}"


def _in_decimal(amount: Decimal, *, as_exponent: bool) -> str:
    """The shortest mantissa with an exponent that is a multiple of three."""
    _, digits, exponent = amount.normalize(_EXACT).as_tuple()
    power = int(exponent) // 3 * 3
    mantissa = "".join(map(str, digits)) + "0" * (int(exponent) - power)
    if as_exponent:
        return f"{mantissa}e{power}" if power else mantissa
    return mantissa + next(unit for unit, value in _DECIMAL.items() if value == power)


def _parse(value: Any) -> str:
    """Whole numbers and texts, as `x-kubernetes-int-or-string` admits them."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise PydanticCustomError(WRONG_QUANTITY, "{message}", {"message": f"{_MESSAGE}, a fraction in quotes"})
    try:
        return canonical(str(value))
    except ValueError as error:
        raise PydanticCustomError(WRONG_QUANTITY, "{message}", {"message": str(error)}) from None


Quantity = Annotated[
    str,
    Field(max_length=_LONGEST),
    BeforeValidator(_parse),
    WithJsonSchema(
        {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": True,
            "maxLength": _LONGEST,
            VALIDATIONS: [
                {
                    "rule": "isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('0')) >= 0"
                    " && quantity(string(self)).isLessThan(quantity('1P'))",
                    "message": _MESSAGE,
                }
            ],
        }
    ),
]
"""An amount in canonical form; users write a whole number or a text."""
