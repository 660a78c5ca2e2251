"""What is read in the log of a real start, and in one that is told as others would be."""

from pathlib import Path

from llmservice.engines.timed_log import timed_log
from llmservice.engines.transformers.engine import ENGINE

LOG = (Path(__file__).parent / "start_logs/transformers-5.23.0-cpu.txt").read_text()


def test_a_start_on_a_cpu_uses_no_device() -> None:
    report = ENGINE.start_report(LOG)

    assert (report.backend, report.in_use, report.device_count) == ("cpu", False, None)


def test_devices_are_told_by_torch() -> None:
    report = ENGINE.start_report("llmservice: torch 2.13.0+cu130 on cuda x 2\n[transformers] Loading a@main\n")

    assert (report.backend, report.device_count) == ("cuda", 2)


def test_a_log_without_that_line_says_nothing() -> None:
    assert ENGINE.start_report("Loading weights: 100%").in_use is None


def test_the_server_starts_when_the_model_is_loaded() -> None:
    written = [f"2026-11-22T17:58:{second:02}.5Z {line}" for second, line in enumerate(LOG.splitlines(), 10)]
    times = ENGINE.start_times(timed_log("\n".join(written)))

    assert times.loaded_at is not None
    assert times.loaded_at % 60 == 13.5
    assert times.download_seconds is None


def test_a_download_has_its_time() -> None:
    assert ENGINE.start_times(timed_log("llmservice: fetched after 61.5 s\n")).download_seconds == 61.5
