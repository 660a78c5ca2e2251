"""What tells an engine that hangs from one that is idle, slow or unreadable."""

from typing import Any

from llmservice.converging.pod_readings import Reading
from llmservice.converging.stalls import EngineProgress, answered, followed, is_suspect, seconds_allowed
from tests.unit.autoscaling.builders import counters


def a_reading(at: float, *, running: float = 3.0, kv_use: float | None = 0.4, **changes: Any) -> Reading:
    values = {"prompt_tokens": 900.0, "generated_tokens": 70.0, "steps": 50.0}
    return Reading(counters=counters(at, running=running, **(values | changes)), kv_use=kv_use)


def after(*readings: Reading, restarts: int = 0, before: EngineProgress | None = None) -> EngineProgress:
    progress = before
    for reading in readings:
        progress = followed(progress, reading, restarts)
    assert progress is not None
    return progress


def still(seconds: int = 150, **changes: Any) -> list[Reading]:
    return [a_reading(float(at), **changes) for at in range(0, seconds + 1, 30)]


def test_requests_run_and_nothing_moves() -> None:
    progress = after(*still(150))
    assert progress.still_seconds == 150.0
    assert is_suspect(progress, 120.0)
    assert not is_suspect(progress, 180.0)


def test_each_sign_of_a_step_is_progress() -> None:
    moved: tuple[dict[str, Any], ...] = (
        {"generated_tokens": 71.0},
        {"prompt_tokens": 901.0},
        {"steps": 51.0},
        {"kv_use": 0.41},
        {"running": 2.0},
    )
    for change in moved:
        assert after(*still(150), a_reading(180.0, **change)).still_seconds == 0.0, change


def test_a_long_prompt_on_an_engine_that_counts_its_tokens_later_is_no_stall() -> None:
    """llama.cpp counts prompt tokens when the prompt is read whole, and generated ones when the answer ends."""
    readings = [a_reading(30.0 * number, steps=50.0 + number, kv_use=None) for number in range(20)]
    assert not is_suspect(after(*readings), 60.0)


def test_clients_that_give_up_hide_no_stall() -> None:
    readings = [a_reading(30.0 * number, finished=float(number), waiting=float(number)) for number in range(6)]
    assert is_suspect(after(*readings), 120.0)


def test_an_idle_engine_is_no_suspect() -> None:
    assert after(*still(300, running=0.0)).still_seconds == 0.0


def test_a_gap_in_the_readings_says_nothing() -> None:
    assert after(a_reading(0.0), a_reading(30.0), a_reading(300.0)).still_seconds == 0.0


def test_the_same_sample_twice_is_no_second_reading() -> None:
    progress = after(a_reading(0.0), *[a_reading(90.0)] * 9)
    assert progress.readings == 1
    assert not is_suspect(progress, 60.0)


def test_an_engine_that_was_started_again_begins_anew() -> None:
    assert after(a_reading(180.0), restarts=1, before=after(*still(150))).still_seconds == 0.0


def test_an_engine_that_answers_does_not_hang_whatever_its_metrics_say() -> None:
    assert not is_suspect(answered(after(*still(150))), 120.0)


def test_a_pause_that_ended_by_itself_makes_patient() -> None:
    progress = after(*still(150), a_reading(180.0, generated_tokens=99.0))
    assert progress.longest_pause == 180.0
    assert seconds_allowed(120.0, 1, progress.longest_pause) == 540.0


def test_processors_get_more_time_than_devices() -> None:
    assert seconds_allowed(120.0, 0, 0.0) == 5 * seconds_allowed(120.0, 2, 0.0) == 600.0
