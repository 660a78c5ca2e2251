"""Equal parts of many objects, stored once: thousands of pod templates differ in a few words."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

_HELD_AT_MOST = 1024
_SHORT = 64


def with_interned_values(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """An equal dict whose dicts, list elements and long texts may be shared with other objects: do not change them.

    Values are JSON. Where nothing is equal, the only cost is a copy of the newest values.
    """
    return {key: _interned(value) for key, value in manifest.items()}


def _interned(value: Any) -> Any:
    if isinstance(value, list):
        return [_interned(item) for item in value]
    if isinstance(value, dict) or (isinstance(value, str) and len(value) > _SHORT):
        return _held(orjson.dumps(value))
    return value


@lru_cache(maxsize=_HELD_AT_MOST)
def _held(text: bytes) -> Any:
    """The value of a JSON text: the same object for the same text, while it is among the last ones requested."""
    return orjson.loads(text)
