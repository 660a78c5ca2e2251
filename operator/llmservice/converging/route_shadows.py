"""Routes that take each other's requests: the same hostname and path on the same Gateway.

The Gateway API decides for the older one (HTTPRouteRule, "Matches"), and no condition tells the other. Only routes of
LLMServices are known here, and one that no Gateway accepted takes nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.route_answers import parents_of
from llmservice.converging.route_condition import Problem
from llmservice.objects.references import Manifest, is_being_deleted


def shadow_over(route: Manifest, others: Iterable[Manifest]) -> Problem | None:
    """The older route that gets this one's requests; None where there is none known."""
    for other in others:
        if _rank(other) < _rank(route) and not is_being_deleted(other) and _meet(route, other):
            return _shadowed(route, other)
    return None


def _shadowed(route: Manifest, other: Manifest) -> Problem:
    """Names stay within a namespace: another tenant's are not told."""
    ours, theirs = route["metadata"], other["metadata"]
    same = ours["namespace"] == theirs["namespace"]
    who = f"LLMService {theirs['name']}" if same else "an older LLMService in another namespace"
    return Problem(
        Reason.ROUTE_SHADOWED,
        f"{who} has the same hostname and path on the same Gateway and gets the requests; change spec.route.hostnames "
        "or spec.route.path",
    )


def _rank(route: Manifest) -> tuple[str, str, str]:
    """The Gateway API's order: the oldest, then by namespace and name."""
    metadata = route["metadata"]
    return str(metadata.get("creationTimestamp") or "~"), metadata["namespace"], metadata["name"]


def _meet(one: Manifest, other: Manifest) -> bool:
    mine, theirs = one.get("spec") or {}, other.get("spec") or {}
    hosts, their_hosts = set(mine.get("hostnames") or ()), set(theirs.get("hostnames") or ())
    same_host = bool(hosts & their_hosts) or not (hosts or their_hosts)
    return same_host and _path(mine) == _path(theirs) and bool(_listeners(one) & _listeners(other))


def _path(spec: Mapping[str, Any]) -> Any:
    return [match.get("path") for rule in spec.get("rules") or () for match in rule.get("matches") or ()]


def _listeners(route: Manifest) -> set[tuple[str, ...]]:
    """Where it was accepted. Two listeners of a Gateway have nothing to do with each other."""
    namespace = route["metadata"]["namespace"]
    accepted = [each.ref for each in parents_of(route) if each.accepted is not None and each.accepted.holds]
    return {
        (ref.get("kind", "Gateway"), ref.get("namespace", namespace), ref["name"], ref.get("sectionName", ""))
        for ref in accepted
    }
