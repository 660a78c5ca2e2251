"""The Service: the address for clients."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.container import PORT_NAME
from llmservice.rendering.metadata import answering_selector, child


def service(plan: ServicePlan) -> Manifest:
    """Port 80 to the engine's port; only ready pods are endpoints."""
    port = {"name": PORT_NAME, "port": 80, "targetPort": PORT_NAME, "protocol": "TCP", "appProtocol": "http"}
    spec = {
        "type": "ClusterIP",
        "ports": [port],
        "selector": answering_selector(plan),
        # The default, stated so that a foreign `true` is reverted: a pod that is loading its model serves nobody.
        "publishNotReadyAddresses": False,
    }
    return child(plan, "v1", "Service", spec)
