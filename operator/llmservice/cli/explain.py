"""`llmservice explain`: why a service runs as many replicas as it does, from the operator that decides it."""

import asyncio
import json
import sys
from typing import Any

import aiohttp
import click

from llmservice.cli.explanation import as_text
from llmservice.cluster.connection import connect
from llmservice.cluster.credentials import load_credentials
from llmservice.cluster.leader_proxy import ask_leader
from llmservice.cluster.own_namespace import USUAL
from llmservice.errors import OperatorError, Refused, Unavailable

_LEASE = "llmservice-operator"
_SECONDS = 15.0
_WAY_OUT = "give the address of an operator's endpoint"
_ALWAYS = {"namespace", "name", "periodSeconds", "conditions"}
"""What every explanation has, also that of a service that is not looked at."""


@click.command(name="explain")
@click.argument("name")
@click.option("--namespace", "-n", default="default", show_default=True, help="Namespace of the LLMService.")
@click.option("--operator", default="", help="Address of the leader's endpoint, such as http://127.0.0.1:8080.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator's Lease is.")
@click.option("--context", default="", help="Kubeconfig context. Omitted: the current one.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(name: str, namespace: str, operator: str, operator_namespace: str, context: str, output: str) -> None:
    """Print what the autoscaler saw of the LLMService NAME a moment ago, what each step asked for, and what it decided.

    The leader is found by its Lease and asked through the API server, for which you need the rights to
    `get` `leases` and `pods/proxy` in the operator's namespace. With --operator it is asked directly, for example
    through `kubectl port-forward`.

    \b
    llmservice explain chat -n ml
    llmservice explain chat -n ml -o json | jq .decision
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    path = f"explain/{namespace}/{name}"
    try:
        answer = asyncio.run(
            _ask_directly(operator, path) if operator else _ask_the_leader(context, operator_namespace, path)
        )
    except OperatorError as error:
        click.echo(f"llmservice: {error}", err=True)
        sys.exit(1)
    click.echo(json.dumps(answer, indent=1, ensure_ascii=False) if output == "json" else as_text(answer))


async def _ask_the_leader(context: str, namespace: str, path: str) -> dict[str, Any]:
    async with connect(await load_credentials(context=context)) as connection:
        return await ask_leader(connection, namespace, _LEASE, path)


async def _ask_directly(address: str, path: str) -> dict[str, Any]:
    url, limit = f"{address.rstrip('/')}/{path}", aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.get(url) as response:
            status, answer = response.status, await response.json()
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        why = str(error) or "no answer in time"
        raise Unavailable("Unreachable", f"{url}: {why}; {_WAY_OUT}") from error
    return _explanation(url, status, answer)


def _explanation(url: str, status: int, answer: object) -> dict[str, Any]:
    """The answer, if it is one. Any server can answer at an address that a person typed."""
    if status != 200 and isinstance(answer, dict):  # noqa: PLR2004
        raise Refused("Refused", str(answer.get("message") or f"HTTP {status}"))
    if not isinstance(answer, dict) or not answer.keys() >= _ALWAYS:
        raise Unavailable("NotAnOperator", f"{url}: HTTP {status}, but not what an operator answers; {_WAY_OUT}")
    return answer
