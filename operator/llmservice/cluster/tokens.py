"""A bearer token that tells the operator who asks: which one is sent, and where it comes from."""

from pathlib import Path

from llmservice.cluster.transport.connection import Connection
from llmservice.errors import InvalidInput, Refused, UsageError

AUDIENCE = "llmservice-operator"
"""Who a token may be made for: one for this audience is worth nothing to the API server."""

_LIFE_SECONDS = 600
"""The shortest that an API server grants."""


def token_in(file: str) -> str:
    """The token in a file. Raises `InvalidInput` when it cannot be read or is empty."""
    try:
        token = Path(file).expanduser().read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput("NoToken", f"cannot be read: {error}", field="--token-file") from error
    if not token:
        raise InvalidInput(
            "NoToken", f"{file} is empty: kubectl create token NAME > FILE fills it", field="--token-file"
        )
    return token


async def token_of_account(connection: Connection, account: str) -> str:
    """A token of a service account, `namespace/name`, made for the operator alone and for ten minutes.

    Raises `UsageError` for another form, else what `Connection.call` raises.
    """
    namespace, _, name = account.partition("/")
    if not namespace or not name or "/" in name:
        raise UsageError("NoToken", f"{account!r} is not NAMESPACE/NAME", field="--as-service-account")
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": [AUDIENCE], "expirationSeconds": _LIFE_SECONDS},
    }
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    return str((await connection.call("POST", path, body=body))["status"]["token"])


async def own_token(connection: Connection) -> str:
    """The bearer token by which this connection itself convinces the API server. Raises `Refused` where it has none."""
    scheme, _, token = (await connection.credentials.authorization()).partition(" ")
    if scheme != "Bearer" or not token:
        raise Refused(
            "NoToken",
            "your kubeconfig has no bearer token to show the operator: add --as-service-account NAMESPACE/NAME of an "
            "account that may get the LLMService, or --token-file",
        )
    return token
