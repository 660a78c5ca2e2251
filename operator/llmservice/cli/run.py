"""`llmservice run`: the operator process."""

import asyncio
import dataclasses
import gc

import click

from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.process_options import ProcessOptions, process_options
from llmservice.controllers.application import run_operator


@click.command(name="run")
@process_options(namespaces="Watch only this namespace; repeatable. Omitted: all.")
@click.option("--workers", type=click.IntRange(1, 256), default=None, help="Concurrent reconciles (16).")
def command(process: ProcessOptions, workers: int | None) -> None:
    """Run the operator until SIGTERM or Ctrl-C.

    Each option has an environment variable (LLMSERVICE_CONTEXT, _NAMESPACES with commas, _WORKERS, _LOG_LEVEL); the
    option wins. The operator needs the CRD and waits for it if it is missing.
    """
    with errors_shown():
        settings = process.begin()
        _collect_rarely()
        asyncio.run(run_operator(dataclasses.replace(settings, workers=workers or settings.workers)))


def _collect_rarely() -> None:
    """Exclude modules from cyclic garbage collection, and collect rarely.

    Cached objects are trees, which reference counting frees; by default the collector walks them after every third
    watch event. With 5,000 services it took more than half of the CPU time of a start.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
