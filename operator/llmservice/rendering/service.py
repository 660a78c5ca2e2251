"""The Service: the address clients use."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.container import PORT_NAME
from llmservice.rendering.metadata import child, selector


def service(plan: ServicePlan) -> Manifest:
    """Port 80 on the engine's port; only ready pods are behind it."""
    port = {"name": PORT_NAME, "port": 80, "targetPort": PORT_NAME, "protocol": "TCP", "appProtocol": "http"}
    spec = {
        "type": "ClusterIP",
        "ports": [port],
        "selector": selector(plan),
        # Stated, though it is the default, so that it is taken back: a pod that loads its model answers nobody.
        "publishNotReadyAddresses": False,
    }
    return child(plan, "v1", "Service", spec)
