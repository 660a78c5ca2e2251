"""What the labels of nodes tell, read without keeping any node."""

from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.objects.references import Manifest


async def node_label_keys(connection: Connection) -> frozenset[str]:
    """Every key that labels some node, from metadata alone. Without the right to list nodes: `Refused`."""
    keys: set[str] = set()

    def collect(node: Manifest) -> Manifest:
        keys.update(node["metadata"].get("labels") or ())
        return {}

    await list_all(connection, Selection(kind="Node", metadata_only=True), collect)
    return frozenset(keys)
