"""Which cluster a verb asks, and which namespace it means: the options that kubectl has, under the same names."""

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from llmservice.cli.completing import contexts, namespaces
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import Credentials, load_credentials
from llmservice.errors import Unavailable

Command = TypeVar("Command", bound=Callable[..., Any])

_NO_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The options. Each is empty where it is not given: then the kubeconfig's current context says it."""

    kubeconfig: str = ""
    context: str = ""
    namespace: str = ""

    async def credentials(self) -> Credentials:
        """Those of the kubeconfig; raises Unavailable."""
        return await load_credentials(kubeconfig=self.kubeconfig, context=self.context)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[Connection, str]]:
        """A connection, and the namespace that is meant; raises Unavailable."""
        async with connect(await self.credentials()) as connection:
            yield connection, self.namespace or connection.credentials.namespace

    async def namespace_or_default(self) -> str:
        """The namespace that is meant; `default` where there is no kubeconfig to name one."""
        if self.namespace:
            return self.namespace
        try:
            return (await self.credentials()).namespace
        except Unavailable:
            return _NO_NAMESPACE


def cluster_options(command: Command) -> Command:
    """Adds --namespace, --context and --kubeconfig; the command gets them as `where`."""
    option = click.option(
        "--namespace",
        "-n",
        default="",
        shell_complete=namespaces,
        help="Namespace of the LLMServices. Omitted: that of the context.",
    )
    return option(connection_options(command))


def connection_options(command: Command) -> Command:
    """Adds --context and --kubeconfig alone, for what is of no namespace, or of those that its files name."""

    @functools.wraps(command)
    def gathered(*arguments: Any, kubeconfig: str, context: str, namespace: str = "", **given: Any) -> Any:
        where = Where(kubeconfig=kubeconfig, context=context, namespace=namespace)
        return command(*arguments, where=where, **given)

    for option in (
        click.option(
            "--kubeconfig",
            default="",
            metavar="FILE",
            help="Kubeconfig file. Omitted: $KUBECONFIG, in a pod its service account, else ~/.kube/config.",
        ),
        click.option(
            "--context", default="", shell_complete=contexts, help="Kubeconfig context. Omitted: the current one."
        ),
    ):
        gathered = option(gathered)
    return gathered  # type: ignore[return-value]
