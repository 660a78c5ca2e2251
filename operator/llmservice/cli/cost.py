"""`llmservice cost`: what the devices of services cost, and how much of it nobody used."""

import asyncio
from datetime import UTC, datetime

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.cost_rows import cost_of, in_order
from llmservice.cli.cost_text import as_text
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.output import WIDE, as_data, is_for_programs, output_option
from llmservice.cli.own_objects import service_named
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import UsageError
from llmservice.objects.references import Manifest


@click.command(name="cost")
@click.argument("names", nargs=-1, shell_complete=services)
@cluster_options
@click.option("--all-namespaces", "-A", is_flag=True, help="Those of all namespaces.")
@click.option("--today", "day", flag_value="today", default=True, help="Since midnight, until now (the default).")
@click.option("--yesterday", "day", flag_value="yesterday", help="The day before, whole.")
@output_option(wide=True)
def command(names: tuple[str, ...], where: Where, output: str, *, all_namespaces: bool, day: str) -> None:
    """Print what the devices of LLMServices cost, those first that waste most; NAMES: of these alone.

    Prices are the administrator's, in the catalogue; without them device-hours are printed. A device is idle while its
    replica is ready and has no request. What zero replicas would save is idle time beyond that after which a
    service sleeps, or would (spec.autoscaling.idle.afterSeconds or its default), less the starts. Only devices are
    counted: neither the rest of a node nor what holds devices beside LLMServices.

    It is read from the statuses, with your own right to `get` and `list` llmservices. They are up to ten minutes old:
    today is counted on to now by what is held.

    \b
    Exit codes: 0 done, 1 the cluster refuses, or there is no such service; 2 wrong usage.

    \b
    llmservice cost -A
    llmservice cost chat -n ml --yesterday
    llmservice cost -A -o json | jq '[.[] | .idle // 0] | add'
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if names and all_namespaces:
            raise UsageError("OneService", "NAMES are of one namespace: leave them out", field="--all-namespaces")
        found, now = asyncio.run(_services(names, where, everywhere=all_namespaces)), datetime.now(UTC)
    rows = in_order([cost_of(service, day, now) for service in found])
    if is_for_programs(output):
        click.echo(as_data(rows, output), nl=False)
    else:
        click.echo(as_text(rows, day, wide=output == WIDE), nl=False)


async def _services(names: tuple[str, ...], where: Where, *, everywhere: bool) -> list[Manifest]:
    async with connected(where) as (connection, namespace):
        server = ApiServer(connection)
        if not names:
            return list(await server.list("LLMService", "" if everywhere else namespace))
        return [await service_named(server, namespace, name) for name in dict.fromkeys(names)]
