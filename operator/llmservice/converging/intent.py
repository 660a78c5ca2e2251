"""Is an object as we want it? Compares an intent with a live object, without memory of earlier writes.

Server-side apply leaves foreign fields alone, so a live object may hold more than the intent. What it must not hold is
a field that an earlier intent set and this one dropped: this shows in the digest of the last applied intent, an
annotation on the object itself. Neither check needs state, so a restarted operator writes nothing.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import orjson

from llmservice.objects.names import INTENT_ANNOTATION
from llmservice.objects.references import Manifest

MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "containers": ("name",),
    "env": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "ownerReferences": ("uid",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists that the API server merges by these keys: elements of other writers may stand beside ours.

Not so inside an atomic list: one more port in a rule of a NetworkPolicy would open it. `ports` are merged too, by
number and protocol, which have defaults.
"""

KEY_OF: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    **{field: itemgetter(*keys) for field, keys in MERGE_KEYS.items()},
    "ports": lambda item: (item.get("containerPort", item.get("port")), item.get("protocol", "TCP")),
}
"""How elements of such a list are told apart, by the name of its field."""

_WHOLE = frozenset({"selector", "podSelector"})
"""Maps that must equal the intent: with one more key they would select other pods, or none."""

FALSE_IS_ABSENT = frozenset({"paused", "publishNotReadyAddresses"})
"""Stated so that a foreign `true` is reverted; the API server does not store `false` here. Elsewhere an absent field
may mean true."""

_OBJECT = (dict, Mapping)
"""`dict` first: isinstance with an abstract class takes longer than the comparison."""


def intent_digest(manifest: Mapping[str, Any]) -> str:
    """A digest of the intent. Without `replicas`, which follow the live value while another writer owns the field."""
    spec = {key: value for key, value in manifest.get("spec", {}).items() if key != "replicas"}
    body = orjson.dumps({**manifest, "spec": spec}, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(body, digest_size=12).hexdigest()


def with_digest(manifest: Mapping[str, Any]) -> Manifest:
    """The manifest with its own digest as an annotation."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), INTENT_ANNOTATION: intent_digest(manifest)}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def digest_of(live: Mapping[str, Any]) -> str:
    """The digest of the intent that was applied last; empty when the object has none."""
    return str((live["metadata"].get("annotations") or {}).get(INTENT_ANNOTATION, ""))


FieldPath = tuple[str | tuple[Any, ...], ...]
"""A path in an object: field names, and merge keys of list elements as tuples."""


def covers(live: Any, intent: Any) -> bool:
    """Whether every field of the intent stands in the live object with the same value, and selectors are the same."""
    return difference(live, intent) is None


def difference(live: Any, intent: Any, field: str = "", *, whole: bool = False) -> FieldPath | None:
    """The first field in which the live object differs from the intent; None when it covers the intent.

    `whole` inside an atomic list: no list in it may have elements beside ours.
    """
    if live == intent:  # the common case, and a comparison in C
        return None
    if field in _WHOLE:
        return None if _are_alike(live, intent) else ()
    if isinstance(intent, _OBJECT):
        return _difference_in_map(live, intent, whole=whole) if isinstance(live, _OBJECT) else ()
    if isinstance(intent, Sequence) and not isinstance(intent, str):
        key = None if whole else KEY_OF.get(field)
        return _difference_in_list(live, intent, key) if isinstance(live, Sequence) else ()
    return ()


def _are_alike(live: Any, intent: Any) -> bool:
    """Whether two maps are equal, but for empty values that the API server drops."""
    maps = isinstance(live, _OBJECT) and isinstance(intent, _OBJECT)
    return maps and all(
        _difference_in_map(one, other, whole=True) is None for one, other in ((live, intent), (intent, live))
    )


def _difference_in_map(live: Mapping[str, Any], intent: Mapping[str, Any], *, whole: bool) -> FieldPath | None:
    for key, value in intent.items():
        if live.get(key) is None:  # null too: where a list may be empty, the API server writes it so
            if not (_is_empty(value) or (value is False and key in FALSE_IS_ABSENT)):
                return (key,)
        elif (inner := difference(live[key], value, key, whole=whole)) is not None:
            return (key, *inner)
    return None


def _difference_in_list(
    live: Sequence[Any], intent: Sequence[Any], key: Callable[[Mapping[str, Any]], object] | None
) -> FieldPath | None:
    if key is None:
        pairs = zip(live, intent, strict=False)
        same = len(live) == len(intent) and all(difference(*pair, whole=True) is None for pair in pairs)
        return None if same else ()
    found = {key(item): item for item in live}
    for item in intent:
        name = key(item)
        step = name if isinstance(name, tuple) else (name,)
        if name not in found:
            return (step,)
        if (inner := difference(found[name], item)) is not None:
            return (step, *inner)
    return None


def _is_empty(value: Any) -> bool:
    """Whether the API server may drop the value: empty maps, lists and strings are no drift."""
    return value is None or value in ({}, [], (), "")
