"""The user's affinity combined with the node terms of the accelerator."""

from collections.abc import Mapping, Sequence
from typing import Any

from llmservice.catalog.accelerator import Json
from llmservice.objects.references import Manifest

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(own: Json, node_terms: Sequence[Json]) -> Manifest:
    """Both must match. Terms are ORed, so every term of the user is combined with every term of the accelerator.

    Empty when there is neither.
    """
    if not node_terms:
        return dict(own)
    node: Mapping[str, Any] = own.get("nodeAffinity", {})
    own_terms = node.get(_REQUIRED, {}).get("nodeSelectorTerms", ())
    terms = [_both(term, own_term) for term in node_terms for own_term in own_terms] or list(node_terms)
    return {**own, "nodeAffinity": {**node, _REQUIRED: {"nodeSelectorTerms": terms}}}


def _both(one: Json, other: Json) -> Json:
    """One term with the requirements of both."""
    return {key: [*one.get(key, ()), *other.get(key, ())] for key in (*one, *(key for key in other if key not in one))}
