"""What AIPerf is given: its settings, and a line per request."""

import json

import pytest

from llmservice.bench.generator import KEY_VARIABLE, Target, input_lines, settings
from llmservice.bench.load import Load
from llmservice.bench.prompts import Calibration
from llmservice.bench.scenarios import SCENARIOS, sweep, users, usual_turn

TARGET = Target(url="http://10.0.0.7", model="chat", has_key=True, extra={"ignore_eos": True})
TURN = usual_turn(50, 20)


def lines(load: Load, run: tuple[int, ...] = (0,)) -> list[dict[str, object]]:
    return [json.loads(line) for line in input_lines(load, run, Calibration(), salt=1)]


def test_a_level_of_a_sweep_is_so_many_at_once() -> None:
    load = sweep((4,), requests=10, turn=TURN)
    timing = settings(TARGET, load, (0,), folder="/x")["benchmark"]["profiling"]
    assert timing == {"type": "concurrency", "concurrency": 4, "requests": 10}
    assert all("timestamp" not in line for line in lines(load))


def test_users_are_a_schedule_with_pauses() -> None:
    load = users(2, ramp_seconds=1, rounds=2, think_seconds=2, turn=TURN)
    assert settings(TARGET, load, (0,), folder="/x")["benchmark"]["profiling"] == {"type": "fixed_schedule"}
    told = [(line["session_id"], line.get("timestamp"), line.get("delay")) for line in lines(load)]
    assert told == [("0-0", 0, None), ("0-0", None, 2000), ("0-1", 500, None), ("0-1", None, 2000)]


def test_the_key_is_named_and_never_written() -> None:
    endpoint = settings(TARGET, sweep((1,), requests=1, turn=TURN), (0,), folder="/x")["benchmark"]["endpoint"]
    assert endpoint["api_key"] == f"${{{KEY_VARIABLE}}}"


def test_phases_that_run_together_are_told_apart_by_their_conversations() -> None:
    load = SCENARIOS["single-200"]()
    told = lines(load, load.runs()[0])
    assert [line["session_id"] for line in told] == [f"{number}-0" for number in range(9)]
    assert settings(TARGET, load, load.runs()[0], folder="/x")["benchmark"]["profiling"]["requests"] == 9


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_made_up_prompt_of_a_load_is_sent_twice(name: str) -> None:
    load = SCENARIOS[name]()
    sent = [str(line["messages"]) for run in load.runs() for line in lines(load, run)]
    assert len(set(sent)) == len(sent) == load.requests
