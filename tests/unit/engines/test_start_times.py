"""How long the parts of a start took, by logs of real starts (start_times/README.md names their sources)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from llmservice.engines.registry import ENGINES
from llmservice.engines.start_times import UNTIMED, StartTimes, seconds_between
from llmservice.engines.timed_log import timed_log

LOGS = Path(__file__).parent / "start_times"
DAY = 86_400


def times_of(log: str) -> StartTimes:
    text = (LOGS / f"{log}.txt").read_text("utf-8")
    return ENGINES[log.partition("-")[0]].start_times(timed_log(text))


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("log", "download", "loaded", "compiled"),
    [
        ("llamacpp-b11312-hub", 3.319289, "2026-11-22T14:26:30.274350", None),
        ("llamacpp-b11312-file-verbosity-4", None, "2026-11-22T14:26:34.745000", None),
        ("vllm-0.22.1-cuda", None, "2026-06-07T08:56:00", 25.93),
        ("vllm-0.18.0-npu", None, "2026-07-22T04:06:18", 55.27),
        ("vllm-0.13.0-download", 826.331217, None, None),
        ("vllm-0.8-cuda", None, None, 34.61),
        ("tgi-2.2-download", 145.66344, "2024-09-03T04:40:10.814732", None),
        ("tgi-3.3-two-shards", 0.0, "2025-07-04T12:35:58.247141", None),
    ],
)
def test_the_parts_of_a_start_are_read_as_its_engine_wrote_them(
    log: str, download: float | None, loaded: str | None, compiled: float | None
) -> None:
    times = times_of(log)
    assert times.download_seconds == (None if download is None else pytest.approx(download, abs=1e-4))
    assert times.loaded_at == (None if loaded is None else pytest.approx(at(loaded), abs=1e-4))
    assert times.compile_seconds == compiled


def test_every_log_is_read_by_a_test() -> None:
    (mark,) = test_the_parts_of_a_start_are_read_as_its_engine_wrote_them.pytestmark  # type: ignore[attr-defined]
    assert {path.stem for path in LOGS.glob("*.txt")} == {case[0] for case in mark.args[1]}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "text", ["", "\n", "T \n" * 9, "no line of an engine\n" * 100, "2026-01-01T00:00:00Z", "\0\ud800"]
)
def test_nothing_is_made_of_what_no_engine_says(engine: str, text: str) -> None:
    assert ENGINES[engine].start_times(timed_log(text)) == UNTIMED


@pytest.mark.parametrize("engine", ENGINES)
def test_without_times_before_the_lines_only_what_engines_count_themselves_is_known(engine: str) -> None:
    for path in LOGS.glob(f"{engine}-*.txt"):
        bare = "\n".join(line.split(" ", 1)[-1] for line in path.read_text("utf-8").splitlines())
        if engine != "tgi":  # its lines begin with times of the same form
            assert ENGINES[engine].start_times(timed_log(bare)).loaded_at is None


def test_of_several_workers_the_slowest_counts() -> None:
    text = "".join(
        f"2026-01-01T00:00:0{second}Z (Worker_TP{second}) Model loading took 1.0 GiB memory and 1.0 seconds\n"
        f"2026-01-01T00:00:0{second}Z (Worker_TP{second}) torch.compile took {9 - second}.5 s in total\n"
        for second in (1, 3, 2)
    )
    times = ENGINES["vllm"].start_times(timed_log(text.replace("00:00:02Z", "00:00:09Z")))
    assert (times.loaded_at, times.compile_seconds) == (at("2026-01-01T00:00:09"), 8.5)


@pytest.mark.parametrize("said", ["9999999", "86401", "1.2.3", "..."])
def test_a_time_that_no_start_takes_is_not_believed(said: str) -> None:
    log = timed_log(f"torch.compile took {said} s in total\nTime spent downloading weights for a/b: {said} seconds\n")
    assert ENGINES["vllm"].start_times(log) == UNTIMED


@pytest.mark.parametrize(("begin", "end"), [(None, 1.0), (1.0, None), (2.0, 1.0), (0.0, DAY + 1.0)])
def test_seconds_are_unknown_where_a_moment_is_or_they_are_absurd(begin: float | None, end: float | None) -> None:
    assert seconds_between(begin, end) is None


def test_the_time_before_a_line_is_taken_off_and_nothing_else() -> None:
    log = timed_log("2026-01-01T00:00:01.5Z a b\n2026-01-01T00:00:02 no zone\n  indented\n2026-01-01T00:00:03Z \n")
    assert log.text == "a b\n2026-01-01T00:00:02 no zone\n  indented\n\n"
    base = at("2026-01-01T00:00:00")
    assert log.times == (base + 1.5, None, None, base + 3, None)
    assert log.began_at == base + 1.5
