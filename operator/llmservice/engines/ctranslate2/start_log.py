"""What the server says at its start: images/ctranslate2/ctranslate2_server/serving.py, one line for each part."""

from llmservice.engines.start_report import StartReport, decimal, whole_in
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled

_LOADED = compiled(
    r"ctranslate2_server: loaded in [0-9.]{1,16} s on (?P<backend>cpu|cuda) x (?P<devices>[0-9]{1,4}) as "
)
_FILES = compiled(r"ctranslate2_server: model files in \S{1,500} after (?P<seconds>[0-9.]{1,16}) s")


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    found = _LOADED.first(text)
    if found is None:
        return StartReport()
    backend = found["backend"]
    return StartReport(backend=backend, device_count=whole_in(found, "devices") if backend == "cuda" else None)


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start; nothing is compiled."""
    files = _FILES.first(log.text)
    return StartTimes(
        download_seconds=decimal(files["seconds"]) if files else None,
        loaded_at=log.first(_LOADED),
    )
