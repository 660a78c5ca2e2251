"""`llmservice diff`: what applying a file would change in the cluster, and whether pods restart."""

import asyncio
import sys
from pathlib import Path

import click

from llmservice.cli.answering import answer_files
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.diff_cluster import Comparison, compared
from llmservice.cli.diff_text import as_objects, as_text
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.findings import Severity
from llmservice.cli.operator_found import planner_found
from llmservice.cli.output import as_data, is_for_programs, output_option
from llmservice.cli.own_objects import service_named
from llmservice.cli.planner_options import planner_from, setup_options
from llmservice.cli.reading import STDIN
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.own_namespace import USUAL
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest
from llmservice.reconcilers.planner import CataloguePlanner

_REFUSED = 3
_ENDINGS = (".yaml", ".yml", ".json")


@click.command(name="diff")
@click.argument("what", metavar="FILE|NAME", shell_complete=services)
@cluster_options
@click.option("--update", is_flag=True, help="Of NAME: what its current facts would change, as an update does.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator runs.")
@setup_options
@output_option()
def command(what: str, where: Where, output: str, *, update: bool, operator_namespace: str, **setup: object) -> None:
    """Print what applying FILE ("-" is standard input) would change: each child as it is in the cluster and as it would
    be, as a unified diff; and in words whether pods restart, one more first or in place, and with what gap.

    Of NAME, a service of the cluster, it shows what the operator would repair: what others changed of its children.
    With --update it shows what an update to the current catalogue and settings would change.

    The answer is planned here, with the catalogue and settings of the operator in the cluster, or those of the options.
    Where neither is to be had, the shipped ones are taken, and standard error says so. Facts of a model that was
    inspected, and the place of one that was downloaded, are those of the service in the cluster.

    It is read with your own rights: `get` llmservices, deployments, services, networkpolicies and
    poddisruptionbudgets, `list` pods. Free devices are counted where you may list nodes and pods of the cluster.

    \b
    Exit codes: 0 nothing would change, 1 something would, 2 wrong usage, 3 refused, or the cluster does not answer.

    \b
    llmservice diff chat.yaml
    kustomize build overlays/prod | llmservice diff -
    llmservice diff chat --update
    """  # noqa: D205, D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown(failed=_REFUSED):
        found = asyncio.run(_compare(what, where, operator_namespace, setup, update=update))
    text = as_data(as_objects(found), output) if is_for_programs(output) else as_text(found)
    click.echo(text, nl=False)
    if any(each.differs for each in found):
        sys.exit(1)


async def _compare(
    what: str, where: Where, operator_namespace: str, setup: dict[str, object], *, update: bool
) -> list[Comparison]:
    async with connected(where) as (connection, namespace):
        planner = await _planner(connection, operator_namespace, setup)
        server = ApiServer(connection)
        if not _is_file(what):
            live = await service_named(server, namespace, what)
            return [await compared(connection, planner, live, update=update)]
        bodies = _bodies(what, planner, namespace)
        return [await compared(connection, planner, body) for body in bodies]


async def _planner(connection: Connection, namespace: str, setup: dict[str, object]) -> CataloguePlanner:
    if any(setup.values()):
        return planner_from(**setup)  # type: ignore[arg-type]
    try:
        return await planner_found(connection, namespace)
    except (Refused, Unavailable) as why:
        click.echo(f"planned with the shipped catalogue and default settings: {why}", err=True)
        return planner_from(environment={})


def _is_file(what: str) -> bool:
    return what == STDIN or what.endswith(_ENDINGS) or "/" in what or Path(what).is_file()


def _bodies(file: str, planner: CataloguePlanner, namespace: str) -> list[Manifest]:
    """The LLMServices of a file, each with its namespace; raises Refused after every problem was told."""
    (answer,) = answer_files([file], planner)
    for finding in answer.findings():
        if finding.severity is Severity.ERROR:
            click.echo(f"{finding.file}:{finding.line}: {finding.sentence()}", err=True)
    if answer.refused:
        raise Refused("Refused", f"{answer.file} is refused as it is: nothing was compared")
    return [_within(dict(each.body or {}), namespace) for each in answer.answers]


def _within(body: Manifest, namespace: str) -> Manifest:
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "namespace": metadata.get("namespace") or namespace}}
