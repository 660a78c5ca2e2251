"""EndpointSlices of a Service: the one that the operator writes, with the activators, and those of its selector."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.objects.names import NAME_LABEL, SERVICE_NAME_LABEL, SLICE_MANAGER
from llmservice.objects.names import SLICE_MANAGER_LABEL as MANAGER
from llmservice.objects.references import Ref, controller_of

FIRST_PORT, LAST_PORT = 20_000, 29_999
"""The ports of an activator, one for each service."""
CONTROL_PORT = 8082
"""The port at which it tells what it holds, and is probed."""

_SUFFIX = "-activator"


@dataclass(frozen=True, slots=True, order=True)
class Activator:
    """A replica of the activator that takes requests: its address, and its pod (empty for one that is no pod)."""

    address: str
    namespace: str = ""
    pod: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """The part of an EndpointSlice of ours that the plan does not tell.

    `start_seconds` is what the last start took; None where that is not known. `trouble` is the reason why no replica
    becomes ready, empty where none is known; of a `hopeless` one no time helps.
    """

    port: int
    address_type: str
    endpoints: tuple[Activator, ...] = ()
    start_seconds: int | None = None
    trouble: str = ""
    hopeless: bool = False


def slice_name(service: str) -> str:
    """The name of our EndpointSlice of a service."""
    return f"{service}{_SUFFIX}"


def service_of(slice_name: str) -> str:
    """The service of our EndpointSlice of this name."""
    return slice_name.removesuffix(_SUFFIX)


def slice_ref(namespace: str, service: str) -> Ref:
    """Our EndpointSlice of a service."""
    return Ref("EndpointSlice", namespace, slice_name(service))


def is_ours(endpoint_slice: Mapping[str, Any]) -> bool:
    """Whether an EndpointSlice is one that the operator writes, by its labels, its name and its controller."""
    metadata = endpoint_slice["metadata"]
    labels = metadata.get("labels") or {}
    named = slice_name(labels.get(NAME_LABEL, "")) == metadata["name"]
    return named and labels.get(MANAGER) == SLICE_MANAGER and controller_of(endpoint_slice).get("kind") == "LLMService"


def port_of(endpoint_slice: Mapping[str, Any]) -> int | None:
    """The port of one of ours; None where it has none that an activator listens on."""
    for port in (endpoint_slice.get("ports") or ())[:1]:
        number = port.get("port")
        if isinstance(number, int) and FIRST_PORT <= number <= LAST_PORT:
            return number
    return None


def has_endpoints(endpoint_slice: Mapping[str, Any] | None) -> bool:
    """Whether an endpoint in it takes requests; an unknown condition counts as ready, as Kubernetes has it."""
    endpoints = (endpoint_slice.get("endpoints") if endpoint_slice else None) or ()
    return any((each.get("conditions") or {}).get("ready") is not False for each in endpoints)


def has_ready_replica(slices: Iterable[Mapping[str, Any]], service: str) -> bool:
    """Whether a replica is an endpoint, by the EndpointSlices of the Service that are not ours."""
    return any(has_endpoints(each) for each in slices if _is_of(each, service) and not is_ours(each))


def _is_of(endpoint_slice: Mapping[str, Any], service: str) -> bool:
    return bool((endpoint_slice["metadata"].get("labels") or {}).get(SERVICE_NAME_LABEL) == service)
