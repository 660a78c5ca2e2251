"""Why a route cannot be written at all: the cluster lacks its kind, or the operator has no right to it."""

from collections.abc import Iterable, Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import sentence
from llmservice.converging.route_condition import Problem
from llmservice.untrusted.texts import printable

_PROJECT: Mapping[str, str] = {
    "HTTPRoute": "the Gateway API (https://gateway-api.sigs.k8s.io/guides/#installing-gateway-api)",
    "InferencePool": "the Gateway API Inference Extension (https://gateway-api-inference-extension.sigs.k8s.io/guides/)",
}
_FIELD: Mapping[str, str] = {"HTTPRoute": "spec.route", "InferencePool": "spec.route.inferencePool"}
_FORBIDDEN = "forbidden"
"""In what the API server says to who has no right: it does not tell whether the kind is there."""


def absence(kinds: Iterable[str], absent: Mapping[str, str]) -> Problem | None:
    """The first of these kinds that cannot be used; `absent` maps kinds to what the API server said."""
    for kind in kinds:
        if kind in absent:
            return _not_permitted(kind, absent[kind]) if _FORBIDDEN in absent[kind] else _missing(kind)
    return None


def _missing(kind: str) -> Problem:
    return Problem(
        Reason.ROUTE_KIND_MISSING,
        f"the cluster has no {kind}s; have an administrator install {_PROJECT[kind]} and a controller for it, or "
        f"remove {_FIELD[kind]}: the service serves meanwhile, and the route is made as soon as they are there",
    )


def _not_permitted(kind: str, said: str) -> Problem:
    return Problem(
        Reason.ROUTE_NOT_PERMITTED,
        f"the operator may not use {kind}s here ({sentence(printable(said))}); have an administrator grant it "
        f"(rbac.routes of the chart), or remove {_FIELD[kind]}",
    )
