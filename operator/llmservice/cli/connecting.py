"""Connects to the cluster that the options of a verb name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from llmservice.cli.where import Where
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.errors import Unavailable

_NO_NAMESPACE = "default"


@asynccontextmanager
async def connected(where: Where) -> AsyncIterator[tuple[Connection, str]]:
    """A connection, and the namespace that is meant; raises Unavailable."""
    credentials = await load_credentials(kubeconfig=where.kubeconfig, context=where.context)
    async with connect(credentials) as connection:
        yield connection, where.namespace or credentials.namespace


async def namespace_or_default(where: Where) -> str:
    """The namespace that is meant; `default` where there is no kubeconfig to name one."""
    if where.namespace:
        return where.namespace
    try:
        return (await load_credentials(kubeconfig=where.kubeconfig, context=where.context)).namespace
    except Unavailable:
        return _NO_NAMESPACE
