"""What the engine says at its start.

Lines that begin with `llmservice:` are of its start script; `Started server process` is uvicorn's, which runs when the
model is loaded (transformers 5.19 to 5.23: cli/serve.py makes the ModelManager, which loads it, before the server).
"""

from llmservice.engines.start_report import CPU, StartReport, decimal, whole_in
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled

_DEVICES = compiled(r"llmservice: torch \S{1,64} on (?P<backend>cpu|cuda|rocm) x (?P<devices>[0-9]{1,4})(\n|$)")
_FETCHED = compiled(r"llmservice: fetched after (?P<seconds>[0-9.]{1,16}) s")
_LOADED = compiled(r"Started server process \[")


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    found = _DEVICES.first(text)
    if found is None:
        return StartReport()
    backend = found["backend"]
    return StartReport(backend=backend, device_count=None if backend == CPU else whole_in(found, "devices"))


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start."""
    fetched = _FETCHED.first(log.text)
    return StartTimes(
        download_seconds=decimal(fetched["seconds"]) if fetched else None,
        loaded_at=log.first(_LOADED),
    )
