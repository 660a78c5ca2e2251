"""Phases of a start: from Kubernetes' times and an engine's words, adding up to what was observed."""

from typing import Any

import pytest

from llmservice.converging.startup_phases import (
    expected_start_seconds,
    moment,
    phase_of,
    phases_until,
    seconds_in_engine,
    start_phases,
)
from llmservice.engines.start_times import UNTIMED, StartTimes
from llmservice.objects.references import Manifest
from tests.unit.converging.starting import at, condition, ready_after, starting

FULL = StartTimes(download_seconds=60.4, loaded_at=at(150), compile_seconds=26.3)


def test_each_phase_ends_where_the_next_begins() -> None:
    pod = ready_after(200, scheduled=2, prepared=5, started=53)
    assert start_phases(pod, FULL) == {
        "scheduled": 2,
        "volumes": 3,
        "image": 48,
        "download": 60,
        "load": 37,
        "compile": 26,
        "warm-up": 24,
    }


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (UNTIMED, {"load": 147}),
        (StartTimes(download_seconds=100.0), {"download": 100, "load": 47}),
        (StartTimes(compile_seconds=40.0), {"load": 107, "compile": 40}),
        (StartTimes(loaded_at=at(190)), {"load": 137, "warm-up": 10}),
        (StartTimes(download_seconds=0.0, loaded_at=at(190)), {"download": 0, "load": 137, "warm-up": 10}),
    ],
)
def test_what_no_line_tells_is_in_load(times: StartTimes, expected: dict[str, int]) -> None:
    found = start_phases(ready_after(200, scheduled=2, started=53), times)
    assert found == {"scheduled": 2, "image": 51, **expected}


@pytest.mark.parametrize("download", [None, 0.0, 3.3, 1e5])
@pytest.mark.parametrize("loaded", [None, -50.0, 0.4, 99.7, 1e6])
@pytest.mark.parametrize("compiled", [None, 0.2, 77.5, 1e5])
@pytest.mark.parametrize(
    "cluster", [{}, {"scheduled": 4}, {"scheduled": 4, "prepared": 3}, {"scheduled": 500, "started": 90}]
)
def test_phases_add_up_whatever_an_engine_says(
    download: float | None, loaded: float | None, compiled: float | None, cluster: dict[str, int]
) -> None:
    times = StartTimes(
        download_seconds=download, loaded_at=None if loaded is None else at(loaded), compile_seconds=compiled
    )
    phases = start_phases(ready_after(100, **cluster), times) or {}
    assert sum(phases.values()) == 100
    assert min(phases.values()) >= 0


@pytest.mark.parametrize("missing", ["creationTimestamp", "startedAt", "Ready"])
def test_without_one_of_kubernetes_times_nothing_is_told(missing: str) -> None:
    pod = ready_after(100)
    pod["metadata"].pop(missing, None)
    pod["status"]["containerStatuses"][0]["state"]["running"].pop(missing, None)
    pod["status"]["conditions"] = [each for each in pod["status"]["conditions"] if each["type"] != missing]
    assert start_phases(pod, FULL) is None


def test_a_clock_that_went_back_and_a_pod_of_last_year_tell_nothing() -> None:
    assert start_phases(ready_after(-5), UNTIMED) is None
    assert start_phases(ready_after(8 * 86_400), UNTIMED) is None


_LIFE: tuple[tuple[Manifest, str, dict[str, int]], ...] = (
    (starting(), "scheduled", {}),
    (starting(scheduled=3), "image", {"scheduled": 3}),
    (starting(condition("PodReadyToStartContainers", "False", 3), scheduled=3), "volumes", {"scheduled": 3}),
    (starting(scheduled=3, prepared=4), "image", {"scheduled": 3, "volumes": 1}),
    (starting(scheduled=3, prepared=4, started=50), "load", {"scheduled": 3, "volumes": 1, "image": 46}),
)


@pytest.mark.parametrize(("pod", "phase", "done"), _LIFE)
def test_while_a_pod_starts_what_is_over_is_told_and_where_it_is(
    pod: Manifest, phase: str, done: dict[str, int]
) -> None:
    assert (phase_of(pod), phases_until(pod)) == (phase, done)


def test_the_budget_is_about_what_the_engine_does() -> None:
    assert (
        seconds_in_engine({"scheduled": 900, "volumes": 9, "image": 300, "download": 1, "load": 2, "warm-up": 4}) == 7
    )


@pytest.mark.parametrize(
    ("startup", "seconds"),
    [
        ({"last": {"totalSeconds": 192}}, 192.0),
        ({}, None),
        (None, None),
        ("192", None),
        ({"last": "x"}, None),
        *[({"last": {"totalSeconds": odd}}, None) for odd in ("192", True, -1, 1.5, 10**9, None)],
    ],
)
def test_the_next_start_is_expected_to_take_as_long_as_the_last(startup: Any, seconds: float | None) -> None:
    assert expected_start_seconds({"startup": startup}) == seconds
    assert expected_start_seconds({}) is None


@pytest.mark.parametrize("text", ["", None, 5, "soon"])
def test_a_moment_is_none_where_it_is_no_time(text: object) -> None:
    assert moment(text) is None
