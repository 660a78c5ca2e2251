"""The route of a service: from the spec to what the Gateway API is told."""

from collections.abc import Iterator

from llmservice.api.v1alpha1.route import EndpointPicker, Route, RouteParent
from llmservice.api.v1alpha1.route_timeouts import OF_THE_GATEWAY
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.planning.route_plan import RoutePlan

GATEWAY_GROUP = "gateway.networking.k8s.io"


def plan_route(asked: Route) -> RoutePlan:
    """The route as it was asked for."""
    timeouts = {"request": asked.timeouts.request, "backendRequest": asked.timeouts.backend_request}
    return RoutePlan(
        parents=tuple(map(_parent, asked.parent_refs)),
        hostnames=asked.hostnames,
        prefix=asked.path.rstrip("/"),
        everything=asked.expose == "All",
        timeouts={name: said for name, said in timeouts.items() if said and said != OF_THE_GATEWAY},
        annotations=asked.annotations,
        picker=_picker(asked.inference_pool.endpoint_picker_ref) if asked.inference_pool else None,
    )


def notes_on_route(spec: LLMServiceSpec) -> Iterator[str]:
    """Sentences for `status.plan`: what the rest of the spec means for clients that come by the route."""
    if spec.route is None:
        return
    if spec.network_policy is not None:
        yield (
            "clients that come by spec.route reach the pods from the gateway's: spec.networkPolicy.ingressFrom has to "
            "let those in"
        )
    if spec.auth is None:
        yield "whoever reaches the Gateway of spec.route is served: spec.auth asks for keys"
    if spec.adapter_updates == "Live":
        yield "whoever reaches the Gateway of spec.route may load adapters on some engines: spec.adapterUpdates is Live"
    if spec.route.inference_pool is not None and spec.autoscaling is not None and not spec.autoscaling.min_replicas:
        yield "at zero replicas an InferencePool has no endpoint: requests by spec.route fail and wake nothing"


def _parent(asked: RouteParent) -> Json:
    given = {"namespace": asked.namespace, "sectionName": asked.section_name, "port": asked.port}
    said = {name: value for name, value in given.items() if value is not None}
    return {"group": GATEWAY_GROUP, "kind": asked.kind, "name": asked.name, **said}


def _picker(asked: EndpointPicker) -> Json:
    return {
        "group": "",
        "kind": "Service",
        "name": asked.name,
        "port": {"number": asked.port},
        "failureMode": asked.failure_mode,
    }
