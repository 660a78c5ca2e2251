"""What is said of routes: by RouteReady, and in the notes of a plan."""

from collections.abc import Iterator
from typing import Any

from llmservice.converging.route_absence import absence
from llmservice.converging.route_condition import condition_of, route_condition
from llmservice.converging.route_shadows import shadow_over
from tests.unit.converging.routes import GATEWAY, NOW, OTHER, a_route, an_answer, answered
from tests.unit.planning.planned import planned

_YES: dict[str, Any] = {"Accepted": True, "ResolvedRefs": True}
_SAID: tuple[dict[str, Any], ...] = (
    _YES,
    {"Accepted": ("NotAllowedByListeners", "route is not allowed by any listener")},
    {"Accepted": ("NoMatchingListenerHostname", "")},
    {"Accepted": ("NoMatchingParent", "")},
    {"Accepted": ("UnsupportedValue", "timeouts are not supported")},
    {"Accepted": ("OfTheirs", "something else")},
    {"Accepted": True, "ResolvedRefs": ("InvalidKind", "")},
    {"Accepted": True, "ResolvedRefs": ("BackendNotFound", "")},
)
_FORBIDDEN = 'httproutes.gateway.networking.k8s.io is forbidden: User "system:serviceaccount:a:b" cannot list resource'


def sentences() -> Iterator[str]:
    """One a line, with its status and reason."""
    routes = [answered(a_route(), an_answer(**said)) for said in _SAID]
    routes += [a_route(age=10), a_route(GATEWAY, OTHER, age=100)]
    pool = {"metadata": {}, "status": {"parents": [an_answer(ResolvedRefs=("InvalidExtensionRef", "no such Service"))]}}
    found = [route_condition(route, None, {}, NOW) for route in routes]
    found.append(route_condition(answered(a_route(), an_answer(**_YES)), pool, {}, NOW))
    older = answered(a_route(age=9), an_answer(**_YES))
    for namespace in ("ml", "theirs"):
        other = {**older, "metadata": {**older["metadata"], "name": "older", "namespace": namespace}}
        problem = shadow_over(answered(a_route(), an_answer(**_YES)), [other])
        found += [condition_of(problem)] if problem else []
    for kind in ("HTTPRoute", "InferencePool"):
        for said in ("404 page not found", _FORBIDDEN):
            problem = absence([kind], {kind: said})
            found += [condition_of(problem)] if problem else []
    yield from (f"{each.type}={each.status}, {each.reason}: {each.message}" for each in found)
    yield from _notes()


def _notes() -> Iterator[str]:
    pool = {"parentRefs": [GATEWAY], "inferencePool": {"endpointPickerRef": {"name": "picker"}}}
    closed: dict[str, Any] = {"ingressFrom": []}
    plan = planned(spec__route=pool, spec__networkPolicy=closed, spec__adapterUpdates="Live")
    yield from (f"note: {note}" for note in plan.notes)
