"""What the node pretends to have: devices no one plugged in, and the label their vendor's software would set."""

from sandbox.api_client import ApiClient
from sandbox.settings import NODE

NODE_PATH = f"/api/v1/nodes/{NODE}"
GPU = "nvidia.com/gpu"
GPU_LABELS = {"nvidia.com/gpu.product": "NVIDIA-L4"}


def set_resource(api: ApiClient, name: str, amount: int) -> None:
    """Advertise an extended resource; scheduler and kubelet treat it like a device plugin's. 0 keeps it, empty."""
    quantity = {name: str(amount)}
    api.patch(f"{NODE_PATH}/status", {"status": {"capacity": quantity, "allocatable": quantity}})


def set_labels(api: ApiClient, wanted: dict[str, str]) -> None:
    """Label the node; other labels stay."""
    api.patch(NODE_PATH, {"metadata": {"labels": wanted}})


def extended_resources(api: ApiClient) -> dict[str, str]:
    """What the node advertises besides the machine's own."""
    node = api.get(NODE_PATH) or {}
    allocatable = node.get("status", {}).get("allocatable", {})
    return {name: amount for name, amount in sorted(allocatable.items()) if "/" in name}


def labels(api: ApiClient) -> dict[str, str]:
    """The node's labels."""
    return dict((api.get(NODE_PATH) or {}).get("metadata", {}).get("labels", {}))


def is_ready(api: ApiClient) -> bool:
    """Whether the node's Ready condition is True."""
    conditions = (api.get(NODE_PATH) or {}).get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
