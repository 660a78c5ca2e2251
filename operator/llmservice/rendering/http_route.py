"""The HTTPRoute: which requests a gateway sends to this service."""

from llmservice.engines.engine import PORT
from llmservice.objects.references import Manifest
from llmservice.planning.route_plan import RoutePlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.metadata import child, selector

API = "/v1"
ROUTE_KINDS = ("HTTPRoute", "InferencePool")
"""The kinds that lead clients from outside to a service; a cluster may lack them, and it serves without."""

_POOL_GROUP = "inference.networking.k8s.io"


def route_children(plan: ServicePlan) -> tuple[Manifest, ...]:
    """The HTTPRoute, and before it the pool that it leads to; nothing where the resource asks for no route."""
    if plan.route is None:
        return ()
    pool = () if plan.route.picker is None else (_pool(plan, plan.route),)
    return (*pool, _route(plan, plan.route))


def exposed_path(route: RoutePlan) -> str:
    """What the path of every request that is let in begins with, as clients write it."""
    return route.prefix or "/" if route.everything else f"{route.prefix}{API}"


def _route(plan: ServicePlan, route: RoutePlan) -> Manifest:
    rule: Manifest = {
        "matches": [{"path": {"type": "PathPrefix", "value": exposed_path(route)}}],
        "backendRefs": [_backend(plan, route)],
    }
    if route.prefix:
        rule["filters"] = [_without_prefix("/" if route.everything else API)]
    if route.timeouts:
        rule["timeouts"] = dict(route.timeouts)
    spec: Manifest = {"parentRefs": list(route.parents), "rules": [rule]}
    if route.hostnames:
        spec["hostnames"] = list(route.hostnames)
    made = child(plan, "gateway.networking.k8s.io/v1", "HTTPRoute", spec)
    if route.annotations:
        made["metadata"]["annotations"] = dict(route.annotations)
    return made


def _without_prefix(instead: str) -> Manifest:
    path = {"type": "ReplacePrefixMatch", "replacePrefixMatch": instead}
    return {"type": "URLRewrite", "urlRewrite": {"path": path}}


def _backend(plan: ServicePlan, route: RoutePlan) -> Manifest:
    """The Service, or the pool; never an object of another name or namespace."""
    if route.picker is None:
        return {"group": "", "kind": "Service", "name": plan.owner.name, "port": 80, "weight": 1}
    return {"group": _POOL_GROUP, "kind": "InferencePool", "name": plan.owner.name, "weight": 1}


def _pool(plan: ServicePlan, route: RoutePlan) -> Manifest:
    """The replicas, for a gateway that picks one for each request."""
    spec = {
        "selector": {"matchLabels": selector(plan)},
        "targetPorts": [{"number": PORT}],
        "endpointPickerRef": route.picker,
    }
    return child(plan, f"{_POOL_GROUP}/v1", "InferencePool", spec)
