"""What is read in the log of a real start, and in one on devices, by the server's own words."""

from pathlib import Path

from llmservice.engines.ctranslate2.engine import ENGINE
from llmservice.engines.timed_log import timed_log

LOG = (Path(__file__).parent / "start_logs/ctranslate2-4.8.5-cpu.txt").read_text()


def test_a_start_on_a_cpu_uses_no_device() -> None:
    report = ENGINE.start_report(LOG)

    assert (report.backend, report.in_use, report.device_count) == ("cpu", False, None)


def test_devices_are_told_by_the_server() -> None:
    report = ENGINE.start_report(LOG.replace("cpu x 1 as float32", "cuda x 4 as int8_float16"))

    assert (report.backend, report.device_count) == ("cuda", 4)


def test_a_log_without_that_line_says_nothing() -> None:
    assert ENGINE.start_report("INFO uvicorn.error: Started server process [1]").in_use is None


def test_the_parts_of_the_start_have_their_times() -> None:
    written = [f"2026-11-22T17:58:{second:02}.5Z {line}" for second, line in enumerate(LOG.splitlines(), 10)]
    times = ENGINE.start_times(timed_log("\n".join(written)))

    assert times.download_seconds == 0
    assert times.loaded_at is not None
    assert times.loaded_at % 60 == 15.5
