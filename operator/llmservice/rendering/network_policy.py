"""The NetworkPolicy: who may connect to the engines' port."""

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.container import PORT_NAME
from llmservice.rendering.metadata import child, selector


def network_policy(plan: ServicePlan) -> Manifest | None:
    """None when the resource asks for none: then everybody may connect.

    Only ingress is restricted: an engine that cannot download its model never starts.
    """
    if plan.admitted is None:
        return None
    ports = [{"protocol": "TCP", "port": PORT_NAME}]
    ingress: list[Manifest] = [{"from": list(plan.admitted), "ports": ports}]
    if plan.worker is not None:
        # The pods of a group meet on ports that their engines choose.
        ingress.append({"from": [{"podSelector": {"matchLabels": selector(plan)}}]})
    spec = {
        "podSelector": {"matchLabels": selector(plan)},
        "policyTypes": ["Ingress"],
        "ingress": ingress,
    }
    return child(plan, "networking.k8s.io/v1", "NetworkPolicy", spec)
