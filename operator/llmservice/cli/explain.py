"""`llmservice explain`: why a service runs as many replicas as it does."""

import asyncio
from typing import Any

import click

from llmservice.cli.asking import Asker
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected, namespace_or_default
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.explanation import as_text
from llmservice.cli.holding import held, is_autoscaled, last_told
from llmservice.cli.output import as_data, is_for_programs, output_option
from llmservice.cli.own_objects import service_named
from llmservice.cli.program import program
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.own_namespace import USUAL
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound, NotYet, OperatorError, Refused, Unavailable
from llmservice.objects.names import LEASE
from llmservice.objects.references import Manifest, Ref
from llmservice.objects.workloads import kind_for


@click.command(name="explain")
@click.argument("name", shell_complete=services)
@cluster_options
@click.option("--operator", default="", help="Address of the leader's endpoint, such as https://127.0.0.1:8443.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator's Lease is.")
@click.option("--operator-ca", default="", help="File with the authority of the certificate at --operator.")
@click.option("--token-file", default="", help="File with the bearer token to show the operator.")
@click.option(
    "--as-service-account", default="", help="NAMESPACE/NAME: show a token made for this account and the operator."
)
@output_option()
def command(name: str, where: Where, output: str, **options: str) -> None:
    """Print why LLMService NAME has as many replicas as it has.

    Of one that is autoscaled: what the autoscaler saw a moment ago, what each step asked for, and what it decided. The
    leader is found by its Lease and asked through the API server, for which you need the rights to `get` `leases` and
    `pods/proxy` in the operator's namespace. With --operator it is asked directly, for example through
    `kubectl port-forward`. Of any other: who sets the replicas, from the resource and its Deployment; no operator is
    asked.

    The operator answers those who may `get` the LLMService, and a bearer token tells it who asks: that of --token-file;
    one of --as-service-account, which is worth nothing anywhere else and ten minutes at most (you need the right to
    `create` `serviceaccounts/token`); else that of your kubeconfig.

    \b
    Exit codes: 0 explained, 1 no such service, refused, or the operator is away; 2 wrong usage.

    \b
    llmservice explain chat -n ml
    llmservice explain chat -n ml --as-service-account ml/viewer
    llmservice explain chat -n ml -o json | jq .decision
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    asker = Asker(where=where, **options)
    with errors_shown():
        answer = asyncio.run(_directly(asker, name) if asker.operator else _through_the_cluster(asker, name))
    click.echo(as_data(answer, output) if is_for_programs(output) else f"{as_text(answer)}\n", nl=False)


async def _directly(asker: Asker, name: str) -> dict[str, Any]:
    """What an operator at an address knows; of what it does not scale, what the cluster says, if it can be asked."""
    try:
        return await asker.ask_directly(f"explain/{await namespace_or_default(asker.where)}/{name}")
    except NotFound as unknown:
        try:
            async with connected(asker.where) as (connection, namespace):
                return await _held(ApiServer(connection), namespace, name)
        except (Refused, Unavailable):
            raise unknown from None


async def _through_the_cluster(asker: Asker, name: str) -> dict[str, Any]:
    async with connected(asker.where) as (connection, namespace):
        server = ApiServer(connection)
        service = await service_named(server, namespace, name)
        if not is_autoscaled(service):
            return await _held(server, namespace, name)
        return await _of_the_leader(asker, connection, service)


async def _of_the_leader(asker: Asker, connection: Connection, service: Manifest) -> dict[str, Any]:
    """What the leader answers; what it does not scale yet is explained by the resource."""
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    try:
        return await asker.ask_the_leader(connection, f"explain/{namespace}/{name}")
    except NotFound:
        return await _held(ApiServer(connection), namespace, name)
    except Refused as refusal:
        if await _may_lead(ApiServer(connection), asker.operator_namespace):
            raise
        missing = f"no Lease {asker.operator_namespace}/{LEASE}: name the operator's namespace, or its address"
        raise _away(Unavailable("NoLeader", missing), service) from refusal
    except (NotYet, Unavailable) as away:
        raise _away(away, service) from away


async def _may_lead(server: ApiServer, namespace: str) -> bool:
    """Whether an operator may be there: a token for one that is not need not be had."""
    try:
        return await server.get(Ref("Lease", namespace, LEASE)) is not None
    except Refused:
        return True


def _away(error: OperatorError, service: Manifest) -> Unavailable:
    """The operator cannot be asked: that, what it said last, and how to find out more."""
    said = last_told(service)
    return Unavailable(
        error.reason,
        f"the operator cannot be asked: {error}; its last word on {service['metadata']['name']}: {said}; "
        f"see: {program()} doctor",
    )


async def _held(server: ApiServer, namespace: str, name: str) -> dict[str, Any]:
    service = await service_named(server, namespace, name)
    try:
        deployment = await server.get(Ref(kind_for(service.get("spec") or {}), namespace, name))
    except Refused:
        return held(service, None, is_hidden=True)
    return held(service, deployment)
