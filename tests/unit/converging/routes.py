"""Routes as a cluster has them, and what controllers say of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from llmservice.objects.references import Manifest
from llmservice.rendering.http_route import route_children
from tests.unit.planning.planned import planned

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GATEWAY = {"name": "shared", "namespace": "infra", "sectionName": "https"}
OTHER = {"name": "own"}


def a_route(*parents: dict[str, Any], age: float = 0.0, **changes: Any) -> Manifest:
    """The HTTPRoute of `chat`, made `age` seconds before NOW."""
    plan = planned(spec__route={"parentRefs": list(parents or (GATEWAY,)), **changes})
    made = next(each for each in route_children(plan) if each["kind"] == "HTTPRoute")
    times = {"generation": 1, "creationTimestamp": f"{NOW - timedelta(seconds=age):%Y-%m-%dT%H:%M:%SZ}"}
    return {**made, "metadata": {**made["metadata"], **times}}


def answered(route: Manifest, *entries: dict[str, Any]) -> Manifest:
    """The route with these parents in its status."""
    return {**route, "status": {"parents": list(entries)}}


def an_answer(
    ref: dict[str, Any] = GATEWAY, *, generation: int = 1, controller: str = "example.com/gateway", **holds: Any
) -> dict[str, Any]:
    """What one controller says: `Accepted=True`, or a reason and a message for a False."""
    return {
        "parentRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", **ref},
        "controllerName": controller,
        "conditions": [_condition(kind, said, generation) for kind, said in holds.items()],
    }


def _condition(kind: str, said: Any, generation: int) -> dict[str, Any]:
    status, reason, message = ("True", kind, "") if said is True else ("False", *said)
    return {
        "type": kind,
        "status": "Unknown" if reason == "Pending" else status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
