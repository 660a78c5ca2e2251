"""`llmservice events`: what happened to a service, its pods and its Jobs, in one order."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.event_list import as_text, events_of
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.output import WIDE, as_data, is_for_programs, output_option
from llmservice.cli.own_objects import jobs_of, labelled, pods_of_jobs, service_named
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.listing import Selection, list_all
from llmservice.errors import NotFound, Refused, UsageError
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import WORKLOADS

_KINDS = (*WORKLOADS, "ReplicaSet", "Pod", "PersistentVolumeClaim", "PodDisruptionBudget")
_USUAL, _MOST = 50, 5000
_WATCH_SECONDS = 2.0


@click.command(name="events")
@click.argument("name", shell_complete=services)
@cluster_options
@click.option("--warnings", is_flag=True, help="Only those of type Warning.")
@click.option("--most", type=click.IntRange(1, _MOST), default=_USUAL, show_default=True, help="So many, the newest.")
@click.option("--watch", "-w", is_flag=True, help="Go on with those that are still to come.")
@output_option(wide=True)
def command(name: str, where: Where, most: int, output: str, *, warnings: bool, watch: bool) -> None:
    """Print the Events of LLMService NAME and of all that belongs to it, the newest last.

    Together in one order: what the operator decided, what the Deployment made, what scheduler and kubelet say of the
    pods, and what became of downloads and inspections. A cluster keeps Events for an hour.

    It is read with your own rights: `get` llmservices and `list` events; pods, Jobs and others that you may not list
    are left out.

    \b
    Exit codes: 0 done, also where there are none; 1 the cluster refuses; 2 wrong usage.

    \b
    llmservice events chat
    llmservice events chat --warnings -o wide
    llmservice events chat --watch
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if watch and is_for_programs(output):
            raise UsageError("NoWatch", "prints a table: leave out --output", field="--watch")
        asyncio.run(_show(name, where, most, output, warnings=warnings, watch=watch))


async def _show(name: str, where: Where, most: int, output: str, *, warnings: bool, watch: bool) -> None:
    async with connected(where) as (connection, namespace):
        server, told = ApiServer(connection), set[str]()
        while True:
            service = await service_named(server, namespace, name)
            found = await _events(connection, server, service)
            chosen = [each for each in found if each["type"] == "Warning" or not warnings][-most:]
            new = [each for each in chosen if each["id"] not in told]
            if new or not told:
                _print(new, output, is_first=not told)
            told |= {"", *(each["id"] for each in new)}
            if not watch:
                return
            await asyncio.sleep(_WATCH_SECONDS)


async def _events(connection: Connection, server: ApiServer, service: Manifest) -> list[dict[str, Any]]:
    """Those of the service and of what belongs to it, the oldest first."""
    children = [child for kind in _KINDS for child in await _seen(server, service, kind)]
    events = await list_all(connection, Selection(kind="Event", namespace=service["metadata"]["namespace"]), _as_it_is)
    return events_of(service, children, events.items, datetime.now(UTC))


async def _seen(server: ApiServer, service: Manifest, kind: str) -> list[Manifest]:
    """Those of one kind, of the service's Jobs as well; none where they may not be listed, or there is no such kind."""
    try:
        found = await labelled(server, service, kind)
        if kind == "Pod":
            jobs = await jobs_of(server, service)
            found += [*jobs, *await pods_of_jobs(server, service, jobs)]
    except (Refused, NotFound):
        return []
    return found


def _as_it_is(event: Manifest) -> Manifest:
    return event


def _print(events: list[dict[str, Any]], output: str, *, is_first: bool) -> None:
    if is_for_programs(output):
        click.echo(
            as_data([{key: value for key, value in each.items() if key != "id"} for each in events], output), nl=False
        )
    else:
        click.echo(as_text(events, wide=output == WIDE, heading=is_first), nl=False)
