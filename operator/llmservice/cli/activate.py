"""`llmservice activate`: the activator process."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import click

from llmservice.activator.bounds import Bounds
from llmservice.activator.process import Where, run_activator
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.given_namespaces import given_namespaces
from llmservice.controllers.logs import set_up_logs
from llmservice.objects.endpoint_slices import CONTROL_PORT
from llmservice.settings import settings_from

_USUAL = Bounds()
_MIB = 2**20


def _bound(
    name: str, kind: click.ParamType[Any], default: object, said: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option that has an environment variable, both by the same name."""
    variable = f"LLMSERVICE_ACTIVATOR_{name.removeprefix('--').replace('-', '_').upper()}"
    return click.option(
        name, type=kind, default=default, envvar=variable, show_envvar=True, show_default=True, help=said
    )


@click.command(name="activate")
@click.option("--context", default=None, help="Kubeconfig context. Omitted: the pod's service account, or the current.")
@click.option(
    "--kubeconfig",
    default="",
    metavar="FILE",
    help="Kubeconfig file. Omitted: $KUBECONFIG, in a pod its service account, else ~/.kube/config.",
)
@click.option(
    "--namespace",
    "-n",
    "namespaces",
    multiple=True,
    callback=given_namespaces,
    help="Hold for services of this namespace alone; repeatable. Omitted: all.",
)
@_bound("--held", click.IntRange(1, 100_000), _USUAL.held, "Requests held at once.")
@_bound("--held-each", click.IntRange(1, 100_000), _USUAL.held_each, "Those of one service that says nothing else.")
@_bound("--held-mib", click.IntRange(1, 65_536), _USUAL.held_bytes // _MIB, "MiB of what is read of them.")
@_bound(
    "--wait-seconds", click.IntRange(1, 86_400), int(_USUAL.wait_seconds), "Longest wait, if its service is silent."
)
@_bound(
    "--grace-seconds", click.IntRange(1, 86_400), int(_USUAL.grace_seconds), "From SIGTERM to the end, as of its pod."
)
@_bound("--control-port", click.IntRange(1, 65_535), CONTROL_PORT, "Port of /held, /healthz and /readyz.")
@_bound("--address", click.STRING, "", "Address to listen on. Omitted: all.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default=None, help="Log level (info)."
)
def command(
    context: str | None, kubeconfig: str, namespaces: tuple[str, ...], log_level: str | None, **given: Any
) -> None:
    """Hold requests for services without a ready replica, and send them to the first one, until SIGTERM or Ctrl-C.

    It listens on a port for each service whose EndpointSlice of the operator names one, reads EndpointSlices and
    nothing else, and writes nothing. LLMSERVICE_CONTEXT, _NAMESPACES, _LOG_LEVEL and _LOG_FORMAT mean what they mean
    for `llmservice run`; an option wins over its variable.
    """
    with errors_shown():
        settings = settings_from()
        if kubeconfig:
            os.environ["KUBECONFIG"] = kubeconfig  # read anew when a token has ended
        where = Where(
            host=given["address"],
            control_port=given["control_port"],
            context=context or settings.context,
            namespaces=namespaces or settings.namespaces,
        )
        set_up_logs(log_level or settings.log_level, settings.log_format)
        asyncio.run(run_activator(_bounds(given), where))


def _bounds(given: dict[str, Any]) -> Bounds:
    return Bounds(
        held=given["held"],
        held_each=given["held_each"],
        held_bytes=given["held_mib"] * _MIB,
        wait_seconds=given["wait_seconds"],
        grace_seconds=given["grace_seconds"],
    )
