"""An API server that is asked in the name of others: each call carries the bearer token of its caller, and no other."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.transport.credentials import Credentials, tls_of


@dataclass(slots=True, kw_only=True)
class _Known:
    """`credentials.Configuration`, of what does not change."""

    host: str
    api_key: Any = field(default_factory=dict, repr=False)
    ssl_ca_cert: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    verify_ssl: bool = True
    proxy: str | None = None
    tls_server_name: str | None = None


def without_credentials(server: str, ca_file: str = "") -> Credentials:
    """Where an API server is, checked by the authorities in `ca_file` (else the system's), and nothing to convince it.

    Raises OSError for a file without authorities.
    """
    known = _Known(host=server.rstrip("/"), ssl_ca_cert=ca_file or None)
    return Credentials(server=known.host, tls=tls_of(known), configuration=known, read=_nothing)


def as_caller(connection: Connection, token: str) -> Connection:
    """The same connection for somebody else: what they may is what their token may. Raises ValueError without one.

    A call without a token would be judged as that of anybody, which some clusters give rights to.
    """
    if not token:
        raise ValueError("a caller has a token")
    known = _Known(host=connection.credentials.server, api_key={"BearerToken": f"Bearer {token}"})
    credentials = replace(connection.credentials, configuration=known, read=_nothing, _lock=asyncio.Lock())
    return replace(connection, credentials=credentials)


async def _nothing(configuration: Any, *, anew: bool) -> str:  # noqa: ARG001  (the signature of `_Read`)
    """A token that was refused stays refused: there is no other one to read."""
    return ""
