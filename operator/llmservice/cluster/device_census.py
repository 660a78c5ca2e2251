"""Reads the nodes with devices and the pods that hold them, page by page; nothing else of a page is kept."""

from dataclasses import dataclass

from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.converging.free_devices import DeviceNode, DevicePod, device_node, device_pod
from llmservice.objects.references import Manifest

_NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"


@dataclass(frozen=True, slots=True)
class DeviceCensus:
    """Nodes and pods of the whole cluster. Both methods raise `Refused` without the right to list them."""

    connection: Connection

    async def nodes(self) -> list[DeviceNode]:
        """Every node with devices."""
        found: list[DeviceNode] = []

        def collect(node: Manifest) -> Manifest:
            if counted := device_node(node):
                found.append(counted)
            return {}

        await list_all(self.connection, Selection(kind="Node"), collect)
        return found

    async def pods(self, node: str = "") -> list[DevicePod]:
        """Every pod that holds devices; with a name those on this node, for which the API server has an index."""
        found: list[DevicePod] = []

        def collect(pod: Manifest) -> Manifest:
            if counted := device_pod(pod):
                found.append(counted)
            return {}

        on_node = f",spec.nodeName={node}" if node else ""
        await list_all(self.connection, Selection(kind="Pod", field_selector=_NOT_ENDED + on_node), collect)
        return found
