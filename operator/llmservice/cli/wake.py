"""`llmservice wake`: starts a replica of a service that sleeps, before the first request does."""

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.cli.cluster_options import cluster_options
from llmservice.cli.completing import services
from llmservice.cli.connecting import connected
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.own_objects import service_named
from llmservice.cli.service_state import state_of
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.converging.activation import may_sleep
from llmservice.converging.conditions import timestamp
from llmservice.converging.idle_status import seconds_of
from llmservice.errors import NotFound, OperatorError
from llmservice.objects.names import WAKE_ANNOTATION
from llmservice.objects.references import Manifest

_MANAGER = "llmservice-wake"
_LOOK_SECONDS = 1.0
_TOLD_LATE_SECONDS = 30.0
_RESTING = frozenset({Reason.ASLEEP, Reason.ACTIVATOR_MISSING})
"""Why it is as it was before it was woken."""
"""So long a status that still speaks of sleep is no answer to being woken."""


@click.command(name="wake")
@click.argument("name", shell_complete=services)
@cluster_options
@click.option("--no-wait", is_flag=True, help="Ask for it and end at once.")
@click.option(
    "--timeout", type=click.IntRange(1, 86_400), default=1800, show_default=True, help="Seconds to wait for Ready."
)
def command(name: str, where: Where, timeout: int, *, no_wait: bool) -> None:
    """Start a replica of LLMService NAME, which sleeps (`minReplicas: 0`), and wait until it is Ready.

    A service that is awake stays so for its idle time from now on. What it waits for is told on standard error. You
    need the rights to `get` and `patch` llmservices: the annotation llmservice.dev/wake is set to the time.

    \b
    Exit codes: 0 Ready (asked for, with --no-wait), 1 not Ready in time, or the cluster refuses; 2 wrong usage.

    \b
    llmservice wake chat -n ml && ./smoke-test.sh
    llmservice wake chat --no-wait
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        is_ready = asyncio.run(_wake(name, where, None if no_wait else timeout))
    if not is_ready:
        sys.exit(1)


async def _wake(name: str, where: Where, seconds: int | None) -> bool:
    """Whether it is Ready in time; without a time whether it was asked for."""
    async with connected(where) as (connection, namespace):
        server = ApiServer(connection)
        service = await service_named(server, namespace, name)
        _check(service)
        await server.overwrite(_asked(service, datetime.now(UTC)), manager=_MANAGER)
        if seconds is None:
            click.echo(f"{namespace}/{name}: asked for")
            return True
        return await _ready(server, namespace, name, seconds)


def _check(service: Manifest) -> None:
    """Raise where waking changes nothing."""
    name = service["metadata"]["name"]
    if (service.get("spec") or {}).get("suspend"):
        raise OperatorError("Suspended", f"{name} is suspended: set spec.suspend to false to serve again")
    if not may_sleep(service):
        raise OperatorError("NeverSleeps", f"{name} never sleeps: spec.autoscaling.minReplicas is not 0")


def _asked(service: Manifest, now: datetime) -> Manifest:
    """The annotation, with a time after it fell asleep: this machine's clock may be behind the operator's."""
    slept = seconds_of(_idle(service).get("since"))
    at = max(now, datetime.fromtimestamp(slept, UTC) + timedelta(seconds=1)) if slept is not None else now
    metadata = {key: service["metadata"][key] for key in ("name", "namespace", "uid")}
    annotations = {WAKE_ANNOTATION: timestamp(at)}
    return {
        "apiVersion": service["apiVersion"],
        "kind": service["kind"],
        "metadata": {**metadata, "annotations": annotations},
    }


def _idle(service: Manifest) -> dict[str, Any]:
    return ((service.get("status") or {}).get("autoscaling") or {}).get("idle") or {}


async def _ready(server: ApiServer, namespace: str, name: str, seconds: int) -> bool:
    """Tell what is waited for, whenever that is something else."""
    began, told = time.monotonic(), ""
    while (waited := time.monotonic() - began) < seconds:
        state = state_of(await service_named(server, namespace, name), now=datetime.now(UTC))
        rests = state["reason"] in _RESTING
        if state["reached"] and not rests:
            click.echo(f"{namespace}/{name}: Ready after {waited:.0f} s: {state['message']}")
            return True
        if rests and waited > _TOLD_LATE_SECONDS:
            raise NotFound("NotWoken", f"no operator has woken {name}: does one run, for this namespace?")
        said = "waking" if rests else f"{state['reason']}: {state['message']}"
        if said != told:
            click.echo(f"{waited:4.0f} s  {said}", err=True)
            told = said
        if state["stalled"]:
            return False
        await asyncio.sleep(_LOOK_SECONDS)
    click.echo(f"{namespace}/{name}: not Ready after {seconds} s; see: llmservice status {name}", err=True)
    return False
