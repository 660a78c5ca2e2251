"""`RouteReady`: whether clients outside the cluster are led to the service, and what to do where they are not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition, condition_in
from llmservice.converging.diagnosis import sentence
from llmservice.converging.route_answers import Answer, Parent, parents_of, refusals
from llmservice.objects.references import Manifest
from llmservice.planning.route_plan import RoutePlan
from llmservice.rendering.http_route import exposed_path
from llmservice.untrusted.texts import printable

PATIENCE_SECONDS = 60.0
"""So long a controller may take before its absence is suspected: most answer within a second."""

_REMEDIES: Mapping[str, str] = {
    "NotAllowedByListeners": "have its administrator admit routes of namespace {namespace} by the allowedRoutes of a "
    "listener",
    "NoMatchingListenerHostname": "use a hostname in spec.route.hostnames that one of its listeners has",
    "NoMatchingParent": "name a listener that it has in spec.route.parentRefs, by sectionName and port, or omit both",
    "UnsupportedValue": "leave out of spec.route what its controller does not support: path, or timeouts (say Default)",
    "BackendNotFound": "wait, or see whether its controller may read this namespace",
    "InvalidKind": "its controller knows no InferencePools: remove spec.route.inferencePool, or use another Gateway",
    "RefNotPermitted": "ask its administrator what its controller may refer to",
}
"""By the reasons of the Gateway API (apis/v1/shared_types.go and httproute_types.go, v1.4)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why no route is as it should be, before any controller is asked. `status` is None for Unknown."""

    reason: Reason
    message: str
    status: bool | None = False


def route_condition(route: Manifest, pool: Manifest | None, before: Mapping[str, Any], now: datetime) -> Condition:
    """What the controllers say of a route that is written; `before` is the status of the service as it stands."""
    parents, namespace = parents_of(route), route["metadata"]["namespace"]
    wrong = next(_refused(parents, namespace), None) or next(_pool_refused(pool), None)
    if wrong is not None:
        return condition_of(wrong)
    silent = [parent for parent in parents if not _is_settled(parent)]
    if not parents:
        return condition_of(Problem(Reason.ROUTE_PENDING, "the route is being written: wait", status=None))
    if silent:
        return condition_of(_unanswered(silent, namespace, late=_waited(route, before, now) >= PATIENCE_SECONDS))
    names = ", ".join(parent.named(namespace) for parent in parents)
    return condition_of(Problem(Reason.ROUTE_ACCEPTED, f"{names}: routes requests to this service", status=True))


def condition_of(problem: Problem) -> Condition:
    """The condition that tells a problem."""
    return Condition(
        type=ConditionType.ROUTE_READY, status=problem.status, reason=problem.reason, message=problem.message
    )


def route_status(plan: RoutePlan, route: Manifest | None) -> dict[str, Any]:
    """What stands in `status.route`: where clients reach the service by those Gateways that accepted its route."""
    parents = parents_of(route) if route is not None else ()
    namespace = route["metadata"]["namespace"] if route is not None else ""
    accepted = [parent.named(namespace) for parent in parents if _says(parent.accepted)]
    path = exposed_path(plan)
    addresses = [f"{name}{path}" for name in plan.hostnames] or [path]
    return {"addresses": addresses, **({"gateways": accepted} if accepted else {})}


def seconds_to_suspicion(
    condition: Condition, route: Manifest | None, before: Mapping[str, Any], now: datetime
) -> float | None:
    """Seconds until the silence of a controller is told as one; None where nobody is waited for."""
    if condition.reason != Reason.ROUTE_PENDING or route is None:
        return None
    return max(1.0, PATIENCE_SECONDS - _waited(route, before, now))


def _refused(parents: Sequence[Parent], namespace: str) -> Iterator[Problem]:
    for parent in parents:
        name = parent.named(namespace)
        if parent.accepted is not None and parent.accepted.holds is False:
            told = _told(parent.accepted, namespace)
            yield Problem(Reason.ROUTE_REFUSED, f"{name} does not accept the route: {told}")
        elif parent.resolved is not None and parent.resolved.holds is False:
            told = _told(parent.resolved, namespace)
            yield Problem(Reason.ROUTE_BACKEND_UNRESOLVED, f"{name} cannot lead to the service: {told}")


def _pool_refused(pool: Manifest | None) -> Iterator[Problem]:
    for answer in refusals(pool) if pool is not None else ():
        told = f"{_said(answer)}; see whether spec.route.inferencePool.endpointPickerRef names a Service that is there"
        yield Problem(Reason.ROUTE_BACKEND_UNRESOLVED, f"the InferencePool is refused: {told}")


def _unanswered(silent: Sequence[Parent], namespace: str, *, late: bool) -> Problem:
    names = ", ".join(parent.named(namespace) for parent in silent)
    if not late:
        return Problem(Reason.ROUTE_PENDING, f"{names}: no answer from its controller yet: wait", status=None)
    ref = silent[0].ref
    look = f"kubectl -n {ref.get('namespace', namespace)} get {ref.get('kind', 'Gateway').lower()} {ref['name']}"
    return Problem(
        Reason.ROUTE_UNCLAIMED,
        f"{names}: no controller has answered; see whether it exists and is programmed (`{look}`), and whether the "
        "controller of its GatewayClass runs",
        status=None,
    )


def _told(answer: Answer, namespace: str) -> str:
    """A controller's words, and what to do."""
    remedy = _REMEDIES.get(answer.reason, "follow the message, or ask its administrator")
    return f"{_said(answer)}; {remedy.format(namespace=namespace)}"


def _said(answer: Answer) -> str:
    reason, message = sentence(printable(answer.reason)), sentence(printable(answer.message))
    return f"{reason} ({message})" if message else reason


def _is_settled(parent: Parent) -> bool:
    """Whether it is accepted; a controller that says nothing of references has none to complain of."""
    return _says(parent.accepted) and (parent.resolved is None or _says(parent.resolved))


def _says(answer: Answer | None) -> bool:
    return answer is not None and answer.holds is True


def _waited(route: Manifest, before: Mapping[str, Any], now: datetime) -> float:
    """Seconds since somebody could have answered: since the route was made, or an answer went stale by an edit."""
    known = condition_in(before, ConditionType.ROUTE_READY)
    made = str(route["metadata"].get("creationTimestamp") or "")
    stale = str(known.get("lastTransitionTime") or "") if known.get("status") == "Unknown" else ""
    since = [datetime.fromisoformat(text) for text in (made, stale) if text]
    if known and not stale:
        return 0.0
    return max(0.0, (now - max(since)).total_seconds()) if since else 0.0
