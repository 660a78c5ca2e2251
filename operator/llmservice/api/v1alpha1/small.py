"""Whether a spec is so small that its size need not be measured by the schema, which takes as long as all of planning.

`measures.py` counts at most `MOST_FOR_A_VALUE` bytes for an element, `MOST_FOR_ALL` for what is always there, and four
for a character. A test holds the three to the schema.
"""

from collections.abc import Mapping
from typing import Any

MOST_FOR_A_VALUE = 400
MOST_FOR_ALL = 16 * 1024
_UTF8 = 4


def is_small(spec: Mapping[str, Any], largest: int) -> bool:
    """Whether a well-formed spec has at most `largest` bytes by any measure; False says nothing."""
    return _at_most(spec) <= largest - MOST_FOR_ALL


def _at_most(value: Any) -> int:
    if isinstance(value, str):
        return _UTF8 * len(value)
    if isinstance(value, Mapping):
        return sum(MOST_FOR_A_VALUE + _UTF8 * len(key) + _at_most(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(MOST_FOR_A_VALUE + _at_most(item) for item in value)
    return 0
