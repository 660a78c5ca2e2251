"""How clients outside the cluster reach the service: a route of the Gateway API."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.route_timeouts import RouteTimeouts
from llmservice.api.v1alpha1.text import Form, KeyForm, ObjectName

API_PREFIX = "/v1"
"""What the paths of the OpenAI API begin with, on every engine."""

Port = Annotated[int, Field(strict=True, ge=1, le=65535)]
Namespace = Annotated[
    str,
    Field(min_length=1, max_length=63),
    Form(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", "is not the name of a namespace: use lower-case letters, digits and '-'"),
]
Hostname = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Form(
        r"(\*\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)*[a-z]([-a-z0-9]*[a-z0-9])?",
        "is not a hostname: write lower-case labels with dots between them, *. before them for all names below, and no "
        "address, port or scheme",
    ),
]
RoutePath = Annotated[
    str,
    Field(min_length=1, max_length=256),
    Form(
        r"/|(/[A-Za-z0-9_~-][-A-Za-z0-9._~]*)+",
        "is not a path: begin with /, end without, and use letters, digits, '-', '_', '.' and '~'",
    ),
]
ROUTE_ANNOTATION = Form(
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
    r"|external-dns\.alpha\.kubernetes\.io/(ttl|set-identifier|aws-weight|cloudflare-proxied)",
    "is not allowed: many gateways take configuration from annotations; use a key without a domain or ttl, "
    "set-identifier, aws-weight or cloudflare-proxied of external-dns.alpha.kubernetes.io, or write an HTTPRoute "
    "yourself",
)
RouteAnnotationKey = Annotated[str, Field(min_length=1, max_length=128), ROUTE_ANNOTATION]


class RouteParent(ApiModel):
    """A Gateway that clients come through, or some of its listeners."""

    kind: Literal["Gateway", "ListenerSet"] = "Gateway"
    """Gateway, or ListenerSet for listeners that are an object of their own."""
    name: ObjectName
    """Name of the Gateway or ListenerSet."""
    namespace: Namespace | None = None
    """Its namespace. Omitted: that of this LLMService. Another one must admit routes from here, by the `allowedRoutes`
    of its listeners."""
    section_name: ObjectName | None = None
    """Name of one listener. Omitted: every listener that admits this route."""
    port: Port | None = None
    """Port of the listeners. Omitted: every port."""


class EndpointPicker(ApiModel):
    """The endpoint picker of an InferencePool: a Service in the same namespace."""

    name: ObjectName
    """Name of the Service."""
    port: Port = 9002
    """Port of the Service."""
    failure_mode: Literal["FailOpen", "FailClose"] = "FailClose"
    """What happens while the picker does not answer. FailClose: requests are refused. FailOpen: the gateway picks."""


class InferencePool(ApiModel):
    """An InferencePool before the replicas, whose picker chooses one for each request by load and cached prefix."""

    endpoint_picker_ref: EndpointPicker
    """The picker, which you run beside the service."""


class Route(ApiModel):
    """The HTTPRoute of this service. The Gateway is the administrator's; its listeners decide about TLS."""

    parent_refs: Annotated[tuple[RouteParent, ...], Field(min_length=1, max_length=8)]
    """Gateways that clients come through."""
    hostnames: Annotated[tuple[Hostname, ...], Field(max_length=16), Unique()] = ()
    """Names by which clients ask for it. Omitted: those of the listeners."""
    path: RoutePath = "/"
    """What clients put before /v1, so that several services share a hostname; the engine does not see it."""
    expose: Literal["Api", "All"] = "Api"
    """What of the engine is reached. Api: paths that begin with /v1. All: every path, its metrics too."""
    timeouts: RouteTimeouts = RouteTimeouts()
    """How long the gateway waits."""
    annotations: Annotated[
        Mapping[RouteAnnotationKey, Annotated[str, Field(max_length=256)]],
        Field(max_length=8),
        KeyForm(ROUTE_ANNOTATION),
    ] = {}
    """Annotations of the HTTPRoute. Keys by which gateways are configured are refused."""
    inference_pool: InferencePool | None = None
    """Send requests through an InferencePool. Omitted: to the Service."""

    rules: ClassVar = (
        Rule(
            cel="self.parentRefs.all(one, self.parentRefs.exists_one(other, one.name == other.name"
            " && one.kind == other.kind && has(one.__namespace__) == has(other.__namespace__)"
            " && (!has(one.__namespace__) || one.__namespace__ == other.__namespace__)"
            " && (!has(one.sectionName) || !has(other.sectionName) || one.sectionName == other.sectionName)))",
            holds=lambda route: _are_different(route.parent_refs),
            message="names the same Gateway twice: remove one, or give each another sectionName",
            field_path=".parentRefs",
        ),
        Rule(
            cel=f"!has(self.path) || !self.path.endsWith('{API_PREFIX}')",
            holds=lambda route: not route.path.endswith(API_PREFIX),
            message="is what stands before /v1: remove /v1 from its end",
            field_path=".path",
        ),
    )


def _are_different(parents: tuple[RouteParent, ...]) -> bool:
    return all(sum(_are_same(one, other) for other in parents) == 1 for one in parents)


def _are_same(one: RouteParent, other: RouteParent) -> bool:
    if (one.kind, one.namespace, one.name) != (other.kind, other.namespace, other.name):
        return False
    return not one.section_name or not other.section_name or one.section_name == other.section_name
