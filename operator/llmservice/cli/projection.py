"""A live object, reduced to the fields that somebody of us states: without what the API server and others add.

Lists that the API server merges by a key are read by that key, other lists element by element.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from llmservice.converging.intent import FALSE_IS_ABSENT, KEY_OF


def projected(live: Any, masks: Sequence[Any], field: str = "") -> Any:
    """The part of `live` that any of the masks states, in their order; `masks` are intents, the newest first."""
    maps = [mask for mask in masks if isinstance(mask, Mapping)]
    if isinstance(live, Mapping) and maps:
        return _of_map(live, maps)
    lists = [mask for mask in masks if isinstance(mask, Sequence) and not isinstance(mask, str)]
    if isinstance(live, Sequence) and not isinstance(live, str) and lists:
        return _of_list(live, lists, field)
    return live


def _of_map(live: Mapping[str, Any], masks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in dict.fromkeys(key for mask in masks for key in mask):
        if key in live:
            found[key] = projected(live[key], [mask[key] for mask in masks if key in mask], key)
        elif key in masks[0] and _is_not_stored(key, masks[0][key]):
            found[key] = masks[0][key]
    return found


def _of_list(live: Sequence[Any], masks: Sequence[Sequence[Any]], field: str) -> list[Any]:
    key = KEY_OF.get(field)
    if key is None:
        same = [mask for mask in masks if len(mask) == len(live)]
        return [projected(item, [mask[index] for mask in same]) for index, item in enumerate(live)]
    stated = dict.fromkeys(key(item) for mask in masks for item in mask)
    of_live = {key(item): item for item in live}
    return [
        projected(of_live[name], [item for mask in masks for item in mask if key(item) == name])
        for name in stated
        if name in of_live
    ]


def _is_not_stored(key: str, value: Any) -> bool:
    """Whether the API server drops such a value: it is there, though nobody sees it."""
    return value is None or value in ({}, [], (), "") or (value is False and key in FALSE_IS_ABSENT)
