"""`llmservice explain`: why a service runs as many replicas as it does, from the operator that decides it."""

import asyncio
import ipaddress
import json
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

import aiohttp
import click

from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.explanation import as_text
from llmservice.cli.namespaces import namespace_option, namespace_or_current
from llmservice.cluster.leadership.leader_proxy import ask_leader
from llmservice.cluster.own_namespace import USUAL
from llmservice.cluster.tokens import own_token, token_in, token_of_account
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import load_credentials
from llmservice.errors import InvalidInput, Refused, Unavailable, UsageError
from llmservice.objects.names import LEASE

_SECONDS = 15.0
_WAY_OUT = "give the address of an operator's endpoint"
_ALWAYS = {"namespace", "name", "periodSeconds", "conditions"}
"""What every explanation has, also that of a service that is not scaled now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Who asks, and where: the options of the command."""

    operator: str
    operator_namespace: str
    operator_ca: str
    token_file: str
    as_service_account: str
    context: str


@click.command(name="explain")
@click.argument("name")
@namespace_option
@click.option("--operator", default="", help="Address of the leader's endpoint, such as https://127.0.0.1:8443.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator's Lease is.")
@click.option("--operator-ca", default="", help="File with the authority of the certificate at --operator.")
@click.option("--token-file", default="", help="File with the bearer token to show the operator.")
@click.option(
    "--as-service-account", default="", help="NAMESPACE/NAME: show a token made for this account and the operator."
)
@click.option("--context", default="", help="Kubeconfig context. Omitted: the current one.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(name: str, namespace: str, output: str, **options: str) -> None:
    """Print what the autoscaler saw of the LLMService NAME a moment ago, what each step asked for, and what it decided.

    The leader is found by its Lease and asked through the API server, for which you need the rights to
    `get` `leases` and `pods/proxy` in the operator's namespace. With --operator it is asked directly, for example
    through `kubectl port-forward`.

    The operator answers those who may `get` the LLMService, and a bearer token tells it who asks: that of --token-file;
    one of --as-service-account, which is worth nothing anywhere else and ten minutes at most (you need the right to
    `create` `serviceaccounts/token`); else that of your kubeconfig.

    \b
    llmservice explain chat -n ml
    llmservice explain chat -n ml --as-service-account ml/viewer
    llmservice explain chat -n ml -o json | jq .decision
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    asker = _Asker(**options)
    with errors_shown():
        answer = asyncio.run(_ask(asker, namespace, name))
    click.echo(json.dumps(answer, indent=1, ensure_ascii=False) if output == "json" else as_text(answer))


async def _ask(asker: _Asker, namespace: str, name: str) -> dict[str, Any]:
    path = f"explain/{await namespace_or_current(namespace, asker.context)}/{name}"
    return await (_ask_directly(asker, path) if asker.operator else _ask_the_leader(asker, path))


async def _ask_the_leader(asker: _Asker, path: str) -> dict[str, Any]:
    async with connect(await load_credentials(context=asker.context)) as connection:
        token = await _token(asker, connection)
        return await ask_leader(connection, asker.operator_namespace, LEASE, path, token)


async def _token(asker: _Asker, connection: Connection) -> str:
    if asker.token_file:
        return token_in(asker.token_file)
    if asker.as_service_account:
        return await token_of_account(connection, asker.as_service_account)
    return await own_token(connection)


async def _ask_directly(asker: _Asker, path: str) -> dict[str, Any]:
    url, limit = f"{asker.operator.rstrip('/')}/{path}", aiohttp.ClientTimeout(total=_SECONDS)
    tls, headers = _tls(asker), await _authorization(asker)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.get(url, headers=headers, ssl=tls, allow_redirects=False) as response,
        ):
            status, answer = response.status, await response.json()
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        why = str(error) or "no answer in time"
        raise Unavailable("Unreachable", f"{url}: {why}; {_WAY_OUT}") from error
    return _explanation(url, status, answer)


async def _authorization(asker: _Asker) -> dict[str, str]:
    """Nothing by plain HTTP, where everybody could read a token; an operator that answers so asks for none."""
    if _address(asker).scheme != "https":
        if asker.token_file or asker.as_service_account:
            raise UsageError("NoToken", "must begin with https://: a token is shown by HTTPS only", field="--operator")
        return {}
    if asker.token_file:
        return {"Authorization": f"Bearer {token_in(asker.token_file)}"}
    async with connect(await load_credentials(context=asker.context)) as connection:
        return {"Authorization": f"Bearer {await _token(asker, connection)}"}


def _tls(asker: _Asker) -> ssl.SSLContext | bool:
    """The certificate is checked, but on this machine itself: where a port is forwarded, no name can fit."""
    if asker.operator_ca:
        try:
            return ssl.create_default_context(cafile=asker.operator_ca)
        except OSError as error:
            raise InvalidInput("InvalidCertificate", f"cannot be read: {error}", field="--operator-ca") from error
    return not _is_this_machine(_address(asker).hostname or "")


def _address(asker: _Asker) -> SplitResult:
    try:
        return urlsplit(asker.operator)
    except ValueError as error:
        raise UsageError("InvalidAddress", f"{asker.operator}: {error}; {_WAY_OUT}", field="--operator") from error


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _explanation(url: str, status: int, answer: object) -> dict[str, Any]:
    """The answer, if it is one. Any server can answer at an address that a person typed."""
    if status != 200 and isinstance(answer, dict):  # noqa: PLR2004
        raise Refused("Refused", str(answer.get("message") or f"HTTP {status}"))
    if not isinstance(answer, dict) or not answer.keys() >= _ALWAYS:
        raise Unavailable("NotAnOperator", f"{url}: HTTP {status}, but not what an operator answers; {_WAY_OUT}")
    return answer
