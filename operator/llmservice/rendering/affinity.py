"""The user's affinity, and the nodes of the accelerator besides."""

from collections.abc import Mapping, Sequence
from typing import Any

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(own: Json, node_terms: Sequence[Json]) -> Manifest:
    """Both must hold. Terms are ORed, so each of the user's is joined with each of the accelerator's.

    Empty when neither asks for anything.
    """
    if not node_terms:
        return dict(own)
    node: Mapping[str, Any] = own.get("nodeAffinity", {})
    own_terms = node.get(_REQUIRED, {}).get("nodeSelectorTerms", ())
    terms = [_both(term, wish) for term in node_terms for wish in own_terms] or list(node_terms)
    return {**own, "nodeAffinity": {**node, _REQUIRED: {"nodeSelectorTerms": terms}}}


def _both(one: Json, other: Json) -> Json:
    """All requirements of two terms in one."""
    return {key: [*one.get(key, ()), *other.get(key, ())] for key in (*one, *(key for key in other if key not in one))}
