"""`llmservice run`: the operator process."""

import asyncio
import dataclasses
import gc
import os

import click

from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.given_namespaces import given_namespaces
from llmservice.controllers.application import run_operator
from llmservice.controllers.logs import set_up_logs
from llmservice.settings import settings_from


@click.command(name="run")
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
    help="Watch only this namespace; repeatable. Omitted: all.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=None, help="Concurrent reconciles (16).")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default=None, help="Log level (info)."
)
def command(
    context: str | None, kubeconfig: str, namespaces: tuple[str, ...], workers: int | None, log_level: str | None
) -> None:
    """Run the operator until SIGTERM or Ctrl-C.

    Each option has an environment variable (LLMSERVICE_CONTEXT, _NAMESPACES with commas, _WORKERS, _LOG_LEVEL); the
    option wins. The operator needs the CRD and waits for it if it is missing.
    """
    with errors_shown():
        settings = settings_from()
        settings = dataclasses.replace(
            settings,
            context=context or settings.context,
            namespaces=namespaces or settings.namespaces,
            workers=workers or settings.workers,
            log_level=log_level or settings.log_level,
        )
        if kubeconfig:
            os.environ["KUBECONFIG"] = kubeconfig  # every part of the process reads it anew when a token has ended
        set_up_logs(settings.log_level, settings.log_format)
        _collect_rarely()
        asyncio.run(run_operator(settings))


def _collect_rarely() -> None:
    """Exclude modules from cyclic garbage collection, and collect rarely.

    Cached objects are trees, which reference counting frees; by default the collector walks them after every third
    watch event. With 5,000 services it took more than half of the CPU time of a start.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
