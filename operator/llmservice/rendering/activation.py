"""Our EndpointSlice of a service that may have no replica: the activators that hold its requests meanwhile."""

from typing import Any

import orjson

from llmservice.objects.endpoint_slices import Activation, Activator, slice_name
from llmservice.objects.names import ACTIVATION_ANNOTATION, LONGEST_ACTIVATION, SERVICE_NAME_LABEL, SLICE_MANAGER
from llmservice.objects.names import SLICE_MANAGER_LABEL as MANAGER
from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.container import PORT_NAME
from llmservice.rendering.metadata import child

_UNKNOWN_CONCURRENCY = 256
_USUAL_WAIT_SECONDS = 600
_LONGEST_WAIT_SECONDS = 3600


def activation_slice(plan: ServicePlan, activation: Activation) -> Manifest:
    """The slice. kube-proxy merges it with those of the Service's selector, and forgets what is taken out of it."""
    base = child(plan, "discovery.k8s.io/v1", "EndpointSlice", {})
    own = {SERVICE_NAME_LABEL: plan.owner.name, MANAGER: SLICE_MANAGER}
    metadata = {
        **base["metadata"],
        "name": slice_name(plan.owner.name),
        "labels": {**base["metadata"]["labels"], **own},
        "annotations": {ACTIVATION_ANNOTATION: _what_activators_need(plan, activation)},
    }
    return {
        "apiVersion": base["apiVersion"],
        "kind": base["kind"],
        "metadata": metadata,
        "addressType": activation.address_type,
        "endpoints": [_endpoint(each) for each in activation.endpoints],
        "ports": [{"name": PORT_NAME, "port": activation.port, "protocol": "TCP", "appProtocol": "http"}],
    }


def _endpoint(activator: Activator) -> dict[str, Any]:
    endpoint: dict[str, Any] = {"addresses": [activator.address], "conditions": {"ready": True}}
    if activator.pod:
        endpoint["targetRef"] = {"kind": "Pod", "namespace": activator.namespace, "name": activator.pod}
    return endpoint


def _what_activators_need(plan: ServicePlan, activation: Activation) -> str:
    """Compact JSON. A start that takes longer than requests usually wait is waited for twice as long as it takes."""
    names = [*plan.names, *(each.name for each in plan.adapters if plan.adapters_named)]
    said: dict[str, Any] = {"models": names, "concurrency": plan.max_num_seqs or _UNKNOWN_CONCURRENCY}
    if activation.trouble:
        said |= {"trouble": activation.trouble, "hopeless": activation.hopeless}
    if (start_seconds := activation.start_seconds) is not None:
        said["startSeconds"] = start_seconds
        if 2 * start_seconds > _USUAL_WAIT_SECONDS:
            said["maxWaitSeconds"] = min(2 * start_seconds, _LONGEST_WAIT_SECONDS)
    while len(text := orjson.dumps(said).decode()) > LONGEST_ACTIVATION:
        said["models"] = said["models"][:-1]
    return text
