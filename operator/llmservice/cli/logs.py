"""`llmservice logs`: what the engine said, of the pod that matters first."""

import asyncio

import click

from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.log_choice import OF_JOBS, OF_PODS, Log, logs_of
from llmservice.cli.log_reading import Asked, follow, last_lines
from llmservice.cli.own_objects import jobs_of, pods_of_jobs, replicas_of, service_named
from llmservice.cli.plural import counted
from llmservice.cli.program import program
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound, UsageError
from llmservice.objects.pods import condition
from llmservice.objects.references import Manifest

_USUAL_LINES = 200
_MOST_LINES = 10_000
_MOST_PODS = 50


@click.command(name="logs")
@click.argument("name", shell_complete=services)
@cluster_options
@click.option(
    "--of",
    "container",
    type=click.Choice([*OF_PODS, *OF_JOBS]),
    default=OF_PODS[0],
    show_default=True,
    help="Whose log: the engine's, that of the proxy before it, or of the Job that downloads or inspects the model.",
)
@click.option("--all", "-a", "every", is_flag=True, help="Of every pod, each line behind the name of its pod.")
@click.option("--pod", default="", metavar="NAME", help="Of this pod, instead of the one that matters first.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what is written from now on.")
@click.option("--previous", "-p", is_flag=True, help="Of the run before the last restart.")
@click.option(
    "--tail",
    type=click.IntRange(1, _MOST_LINES),
    default=_USUAL_LINES,
    show_default=True,
    metavar="LINES",
    help="So many lines from the end.",
)
@click.option("--timestamps", is_flag=True, help="With the time of each line.")
def command(name: str, where: Where, container: str, pod: str, *, every: bool, **given: bool | int) -> None:
    """Print the log of LLMService NAME: of a pod that fails, else of one that starts, else of the newest.

    Which pod it is, and how many others there are, stands on standard error. What looks like a credential or a prompt
    is hidden, as in the operator's messages, and nothing in a log can steer your terminal; `kubectl logs` shows it as
    it is. A log of more than a megabyte is read from its end.

    It is read with your own rights: `get` llmservices, `list` pods, `get` pods/log.

    \b
    Exit codes: 0 there is a log, 1 there is none, or the cluster refuses; 2 wrong usage.

    \b
    llmservice logs chat
    llmservice logs chat --previous --tail 50
    llmservice logs chat --all -f
    llmservice logs chat --of download
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if every and pod:
            raise UsageError("OnePod", "names one pod: leave out --all", field="--pod")
        asked = Asked(
            lines=int(given["tail"]),
            previous=bool(given["previous"]),
            timestamps=bool(given["timestamps"]),
            follow=bool(given["follow"]),
        )
        if asked.follow and asked.previous:
            raise UsageError("HasEnded", "has ended, nothing follows: leave out --follow", field="--previous")
        asyncio.run(_show(name, where, container, asked, pod=pod, every=every))


async def _show(name: str, where: Where, container: str, asked: Asked, *, pod: str, every: bool) -> None:
    async with connected(where) as (connection, namespace):
        server = ApiServer(connection)
        service = await service_named(server, namespace, name)
        found = logs_of(await _pods(server, service, container), container)
        chosen = _chosen(service, found, container, pod)
        readable = [log for log in (chosen if every else chosen[:1]) if _has(log, asked)]
        if not readable:
            raise NotFound("NoLog", _no_log(chosen, service, asked))
        for log in readable[:1] if not every else ():
            _tell(log, len(found) - 1)
        await _print(connection, readable[:_MOST_PODS], asked, prefixed=every)


async def _pods(server: ApiServer, service: Manifest, container: str) -> list[Manifest]:
    if component := OF_JOBS.get(container):
        return await pods_of_jobs(server, service, await jobs_of(server, service, component))
    return await replicas_of(server, service)


def _chosen(service: Manifest, found: list[Log], container: str, pod: str) -> list[Log]:
    """Those that may be shown, the first first; raises NotFound."""
    name = service["metadata"]["name"]
    if not found:
        raise NotFound("NoLog", _no_pods(service, container))
    if not pod:
        return found
    if named := [log for log in found if log.pod == pod]:
        return named
    names = ", ".join(log.pod for log in found[:8])
    raise NotFound("NoLog", f"{name} has no pod {pod[:253]} with a container {container}; it has {names}")


def _has(log: Log, asked: Asked) -> bool:
    return log.has_previous if asked.previous else log.has_log


def _no_pods(service: Manifest, container: str) -> str:
    """Why there is nothing to read, by what the status says."""
    name, ready = service["metadata"]["name"], condition(service, "Ready")
    said = f": {ready['reason']}: {ready.get('message', '')}" if ready.get("reason") else ""
    if container in OF_JOBS:
        return f"{name} has no Job with a container {container} (one that has ended is kept for an hour){said}"
    return f"{name} has no pod with a container {container}{said}; see: {program()} events {name}"


def _no_log(logs: list[Log], service: Manifest, asked: Asked) -> str:
    first, name = logs[0], service["metadata"]["name"]
    if asked.previous:
        return f"{first.pod} was not restarted: there is no log before this one; leave out --previous"
    return f"{first.pod} has no log yet: {first.state}; see: {program()} events {name}"


def _tell(log: Log, others: int) -> None:
    more = f"; {counted(others, 'other pod')}: --all shows every one" if others else ""
    click.echo(f"{log.pod}, {log.container}: {log.state}{more}", err=True)


async def _print(connection: Connection, logs: list[Log], asked: Asked, *, prefixed: bool) -> None:
    """One after the other; with --follow all at once."""
    prefixes = [f"{log.pod} | " if prefixed else "" for log in logs]
    if asked.follow:
        await asyncio.gather(
            *(follow(connection, log, asked, prefix) for log, prefix in zip(logs, prefixes, strict=True))
        )
        return
    for log, prefix in zip(logs, prefixes, strict=True):
        await last_lines(connection, log, asked, prefix)
