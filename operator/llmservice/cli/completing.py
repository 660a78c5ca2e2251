"""What a shell is told when somebody presses Tab: names of LLMServices, namespaces and contexts.

A Tab must never fail: what cannot be read, or takes long, is no suggestion.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import click
import yaml
from click.shell_completion import CompletionItem

from llmservice.errors import OperatorError
from llmservice.untrusted.texts import printable

_SECONDS = 3.0
_MOST = 500
_FAILURES = (OperatorError, OSError, TimeoutError, ValueError, TypeError, AttributeError, KeyError, yaml.YAMLError)
"""Of a kubeconfig that is none as well: who types a command sees the reason when it runs."""


def services(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the LLMServices in the namespace that the command line names so far, each with its state."""
    return _completed(_answered(context, _services), incomplete)


def namespaces(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the namespaces."""
    return _completed(_answered(context, _namespaces), incomplete)


def contexts(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of the kubeconfig's contexts."""
    return _completed(_answered(context, _contexts), incomplete)


def _completed(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    fitting = [(name, said) for name, said in found if name.startswith(incomplete)]
    return [CompletionItem(printable(name), help=printable(said)) for name, said in fitting[:_MOST]]


def _answered(context: click.Context, read: Callable[[Any], Awaitable[list[tuple[str, str]]]]) -> list[tuple[str, str]]:
    async def within_seconds() -> list[tuple[str, str]]:
        async with asyncio.timeout(_SECONDS):
            return await read(_where(context))

    try:
        return asyncio.run(within_seconds())
    except _FAILURES:
        return []


def _where(context: click.Context) -> Any:
    """The cluster that the command line names so far. Imported here: a Tab on a verb's name asks no cluster."""
    given = {name: context.params.get(name) or "" for name in ("kubeconfig", "context", "namespace")}
    return importlib.import_module("llmservice.cli.where").Where(**given)


def _connected(where: Any) -> Any:
    return importlib.import_module("llmservice.cli.connecting").connected(where)


async def _services(where: Any) -> list[tuple[str, str]]:
    async with _connected(where) as (connection, namespace):
        server = importlib.import_module("llmservice.cluster.api_server").ApiServer(connection)
        return [(each["metadata"]["name"], _state(each)) for each in await server.list("LLMService", namespace)]


def _state(service: dict[str, Any]) -> str:
    conditions = (service.get("status") or {}).get("conditions") or ()
    return next((str(each.get("reason", "")) for each in conditions if each.get("type") == "Ready"), "")


async def _namespaces(where: Any) -> list[tuple[str, str]]:
    async with _connected(where) as (connection, _):
        answer = await connection.call("GET", f"/api/v1/namespaces?limit={_MOST}")
        return [(each["metadata"]["name"], "") for each in answer.get("items") or ()]


async def _contexts(where: Any) -> list[tuple[str, str]]:
    names = importlib.import_module("llmservice.cluster.transport.credentials").context_names(where.kubeconfig)
    return [(name, "") for name in names]
