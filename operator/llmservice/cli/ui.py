"""`llmservice ui`: a page on this machine that shows what runs, where and why."""

import asyncio
import webbrowser

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.service_state import state_of
from llmservice.cli.until_told import until_told
from llmservice.cli.where import Where
from llmservice.cluster.own_namespace import USUAL
from llmservice.errors import UsageError
from llmservice.ui.reading import Reader
from llmservice.ui.server import Page


@click.command(name="ui")
@cluster_options
@click.option("--all-namespaces", "-A", is_flag=True, help="Those of all namespaces.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator's Lease is.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1. Omitted: any free one.")
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.  [default: browser]")
def command(where: Where, operator_namespace: str, port: int, *, all_namespaces: bool, browser: bool) -> None:
    """Serve a page on 127.0.0.1 that shows the LLMServices of a namespace, live, until Ctrl-C: their state, replicas,
    plans and starts, and why each has its number of replicas.

    It reads with your own rights and changes nothing: `get` and `list` of llmservices; of pods and events, which are
    left out where you have none; and for the reasons of the autoscaler those that `llmservice explain` needs. The
    address holds a random token; who does not know it gets nothing.

    \b
    llmservice ui
    llmservice ui -A --no-browser --port 8088
    """  # noqa: D205, D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if where.namespace and all_namespaces:
            raise UsageError("OneScope", "give a namespace or all of them", field="--all-namespaces")
        asyncio.run(_serve(where, operator_namespace, port, everywhere=all_namespaces, browser=browser))


async def _serve(where: Where, operator_namespace: str, port: int, *, everywhere: bool, browser: bool) -> None:
    async with connected(where) as (connection, namespace):
        chosen = "" if everywhere else namespace
        reader = Reader(
            connection=connection, namespace=chosen, operator_namespace=operator_namespace, state_of=state_of
        )
        page = Page(reader=reader)
        try:
            async with page.serving(port):
                click.echo(f"{page.address}\nPress Ctrl-C to end.")
                if browser:
                    webbrowser.open(page.address)
                await until_told()
        except OSError as error:
            raise UsageError("PortInUse", f"{port}: {error.strerror}; leave it out", field="--port") from error
