"""`llmservice activate`: the activator process."""

import asyncio
from collections.abc import Callable
from typing import Any

import click

from llmservice.activator.bounds import Bounds
from llmservice.activator.process import Where, run_activator
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.process_options import ProcessOptions, process_options
from llmservice.objects.endpoint_slices import CONTROL_PORT

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
@process_options(namespaces="Hold for services of this namespace alone; repeatable. Omitted: all.")
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
def command(process: ProcessOptions, **given: Any) -> None:
    """Hold requests for services without a ready replica, and send them to the first one, until SIGTERM or Ctrl-C.

    It listens on a port for each service whose EndpointSlice of the operator names one, reads EndpointSlices and
    nothing else, and writes nothing. LLMSERVICE_CONTEXT, _NAMESPACES, _LOG_LEVEL and _LOG_FORMAT mean what they mean
    for `llmservice run`; an option wins over its variable.
    """
    with errors_shown():
        settings = process.begin()
        where = Where(
            host=given["address"],
            control_port=given["control_port"],
            context=settings.context,
            namespaces=settings.namespaces,
        )
        asyncio.run(run_activator(_bounds(given), where))


def _bounds(given: dict[str, Any]) -> Bounds:
    return Bounds(
        held=given["held"],
        held_each=given["held_each"],
        held_bytes=given["held_mib"] * _MIB,
        wait_seconds=given["wait_seconds"],
        grace_seconds=given["grace_seconds"],
    )
