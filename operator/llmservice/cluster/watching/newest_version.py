"""How far the API server is: its newest resource version."""

from dataclasses import replace

from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.failures import garbled
from llmservice.cluster.watching.listing import Selection


async def newest_version(connection: Connection, selection: Selection) -> int:
    """The version of a consistent read, by a list of one object, without labels: nothing is searched for.

    Raises what `Connection.call` raises, and `Unavailable` for an answer without a version.
    """
    anything = replace(selection, label_selector="", metadata_only=True)
    target = anything.target(limit="1")
    listing = await connection.call("GET", target, accept=anything.accept(as_list=True))
    metadata = listing.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if not isinstance(version, str) or not version.isdecimal():
        raise garbled(f"GET {target}", ValueError(f"resourceVersion {version!r} is no number"))
    return int(version)
