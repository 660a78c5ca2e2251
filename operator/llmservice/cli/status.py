"""`llmservice status`: what runs, where, and why; one screen."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Any

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.output import WIDE, as_data, is_for_programs, output_option
from llmservice.cli.own_objects import service_named
from llmservice.cli.service_state import state_of
from llmservice.cli.status_text import as_list, as_screen
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.visible import pods_and_events
from llmservice.errors import UsageError

_WATCH_SECONDS = 2.0


@click.command(name="status")
@click.argument("name", default="", shell_complete=services)
@cluster_options
@click.option("--all-namespaces", "-A", is_flag=True, help="Those of all namespaces.")
@click.option("--watch", "-w", is_flag=True, help="Print it again whenever it changes, until everything is Ready.")
@output_option(wide=True)
def command(name: str, where: Where, output: str, *, all_namespaces: bool, watch: bool) -> None:
    """Print the state of the LLMServices of a namespace, those that need a look first; of NAME, one screen: what is
    said of it, what runs where, the last start, its replicas and Events.

    It is read with your own rights: `get` and `list` of llmservices, and for NAME of pods and events, which are left
    out where you have none.

    \b
    Exit codes: 0 all are as declared (Ready), 1 some are not, or the cluster refuses; 2 wrong usage.

    \b
    llmservice status
    llmservice status chat -n ml
    llmservice status chat --watch && ./smoke-test.sh
    llmservice status -A -o json | jq -r '.[] | select(.reached | not) | .name'
    """  # noqa: D205, D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if name and all_namespaces:
            raise UsageError("OneService", "a NAME is of one namespace: leave it out", field="--all-namespaces")
        reached = asyncio.run(_show(name, where, output, everywhere=all_namespaces, watch=watch))
    if not reached:
        sys.exit(1)


async def _show(name: str, where: Where, output: str, *, everywhere: bool, watch: bool) -> bool:
    """Whether all are as declared."""
    async with connected(where) as (connection, namespace):
        shown: Any = None
        while True:
            states = await _states(ApiServer(connection), name, "" if everywhere else namespace)
            if (news := _ageless(states)) != shown:
                click.echo(_text(states, name, output), nl=False)
                shown = news
            reached = all(state["reached"] for state in states)
            if reached or not watch:
                return reached
            await asyncio.sleep(_WATCH_SECONDS)


async def _states(server: ApiServer, name: str, namespace: str) -> list[dict[str, Any]]:
    now = datetime.now(UTC)
    if not name:
        return [state_of(service, now=now) for service in await server.list("LLMService", namespace)]
    service = await service_named(server, namespace, name)
    pods, events = await pods_and_events(server, service)
    return [state_of(service, pods, events, now=now)]


def _ageless(value: Any) -> Any:
    """The same without what changes by itself: that something is a second older is no news."""
    if isinstance(value, dict):
        return {name: _ageless(each) for name, each in value.items() if name != "age"}
    return [_ageless(each) for each in value] if isinstance(value, list) else value


def _text(states: list[dict[str, Any]], name: str, output: str) -> str:
    if is_for_programs(output):
        return as_data(states, output)
    return as_screen(states[0]) if name else as_list(states, wide=output == WIDE)
