"""Asks the leading operator through the API server: this works from wherever the cluster can be reached."""

from typing import Any
from urllib.parse import quote

from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound, NotYet, Unavailable

TOKEN_HEADER = "X-LLMService-Authorization"  # noqa: S105  (its name)
"""The API server takes the header Authorization for itself and hands on every other."""


async def ask_leader(connection: Connection, namespace: str, lease: str, path: str, token: str) -> dict[str, Any]:
    """GET a path of the leader's endpoint, with a token that says who asks.

    The leader is the pod named in the Lease; its port the first it declares, by HTTPS. Raises `Unavailable` when nobody
    leads, else what `Connection.call` raises; a refusal of the operator itself comes with its own words.
    """
    try:
        holder = (await connection.call("GET", KINDS["Lease"].item(namespace, lease)))["spec"].get("holderIdentity")
    except NotFound as error:
        raise Unavailable(
            "NoLeader", f"no Lease {namespace}/{lease}: name the operator's namespace, or its address"
        ) from error
    if not holder:
        raise NotYet(
            "NoLeader", f"nobody holds the Lease {namespace}/{lease}: wait until a replica of the operator runs"
        )
    pod, _, _ = holder.rpartition("_")
    try:
        target = KINDS["Pod"].item(namespace, f"https:{quote(pod)}:", f"proxy/{path}")
        return await connection.call("GET", target, headers={TOKEN_HEADER: f"Bearer {token}"})
    except NotFound as error:
        if f'"{pod}" not found' not in error.message:
            raise
        raise Unavailable(
            "NoLeader",
            f"the leader {pod} is no pod of namespace {namespace} (any more): try again, or give its address",
        ) from error
