"""What the rights of a caller show of a cluster: the rest is left out rather than refused."""

import asyncio

from llmservice.cluster.api_server import ApiServer
from llmservice.errors import OperatorError
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, uid_of


async def visible(
    server: ApiServer, kind: str, namespace: str, *, label_selector: str = "", field_selector: str = ""
) -> list[Manifest]:
    """The selected objects of one kind; none where the caller may not list them, or nobody answers."""
    try:
        found = await server.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)
    except OperatorError:
        return []
    return list(found)


async def pods_and_events(server: ApiServer, service: Manifest) -> tuple[list[Manifest], list[Manifest]]:
    """The pods with the label of an LLMService, and the Events that are about itself."""
    metadata = service["metadata"]
    about = f"involvedObject.kind=LLMService,involvedObject.uid={uid_of(service)}"
    pods, events = await asyncio.gather(
        visible(server, "Pod", metadata["namespace"], label_selector=f"{NAME_LABEL}={metadata['name']}"),
        visible(server, "Event", metadata["namespace"], field_selector=about),
    )
    return pods, events
