"""The operator, started with a look inside: `python -m benchmarks.scale.under_test REPORT`.

It is `llmservice run`. On SIGUSR1 the looking ends, so that idle figures are the operator's own, and REPORT is written:
JSON with the worst lag of the event loop and the shares of CPU by part.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

from benchmarks.scale.profiler import Sampler, lag_until
from llmservice.cli import main, run
from llmservice.controllers.application import run_operator
from llmservice.settings import Settings


async def _look(report: Path) -> None:
    done, sampler = asyncio.Event(), Sampler()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, done.set)
    sampler.start()
    lag = await lag_until(done)
    partial = report.with_suffix(".partial")
    partial.write_text(json.dumps({"worst_lag_ms": 1000 * lag, "parts": sampler.stop()}))
    partial.replace(report)


async def _operate(settings: Settings) -> None:
    looking = asyncio.create_task(_look(Path(sys.argv[1])))
    try:
        await run_operator(settings)
    finally:
        looking.cancel()


if __name__ == "__main__":
    vars(run)["run_operator"] = _operate
    main(["run"])
