"""Parts side by side: what failed is named with its words, the next stage waits, and Ctrl-C leaves no process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.parts.__main__ import stages_of
from tools.parts.part import Part
from tools.parts.running import run_stages

ROOT = Path(__file__).parents[3]
MAKEFILE = """
SHELL := /bin/bash
good: ; @echo "..... [100%]"; echo "== 5 passed, 2 deselected in 1.20s =="
bad: ; @echo before; echo "=== FAILURES ==="; echo "the cause"; echo "== 1 failed, 4 passed in 2.0s =="; exit 1
silent: ; @exit 3
later: ; @touch later-began
first: ; @touch first-began; while [ ! -e second-began ]; do sleep 0.05; done
second: ; @touch second-began; while [ ! -e first-began ]; do sleep 0.05; done
leaves-one: ; @sleep 600 & echo $$! > left
hangs: ; @trap 'touch cleaned-up' EXIT; sleep 600 & echo $$! > hanging; echo "[ 41%]"; wait
"""


@pytest.fixture
def make(tmp_path: Path) -> list[str]:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return ["make", "-s", "-C", str(tmp_path)]


def ran(make: list[str], folder: Path, *stages: list[str]) -> tuple[list[str], str]:
    said: list[str] = []
    return run_stages(stages, folder / "logs", said.append, make), "\n".join(said)


def test_what_passed_says_how_many_tests(make: list[str], tmp_path: Path) -> None:
    failed, said = ran(make, tmp_path, ["good"])
    assert failed == []
    assert "5 passed, 2 deselected in 1.20s" in said


def test_what_failed_is_named_and_shows_its_failures_only(make: list[str], tmp_path: Path) -> None:
    failed, said = ran(make, tmp_path, ["good", "bad"])
    assert failed == ["bad"]
    assert [piece for piece in ("the cause", "make bad", "bad.log") if piece not in said] == []
    assert "before" not in said


def test_what_failed_without_a_report_shows_its_last_lines(make: list[str], tmp_path: Path) -> None:
    failed, said = ran(make, tmp_path, ["silent"])
    assert failed == ["silent"]
    assert "Error 3" in said


def test_after_a_failure_no_further_stage_begins(make: list[str], tmp_path: Path) -> None:
    assert ran(make, tmp_path, ["bad"], ["later"])[0] == ["bad"]
    assert not (tmp_path / "later-began").exists()


def test_parts_of_a_stage_run_side_by_side(make: list[str], tmp_path: Path) -> None:
    assert ran(make, tmp_path, ["first", "second"], ["later"])[0] == []
    assert (tmp_path / "later-began").exists()


def test_what_a_part_leaves_behind_is_ended(make: list[str], tmp_path: Path) -> None:
    ran(make, tmp_path, ["leaves-one"])
    wait_until_gone(int((tmp_path / "left").read_text()))


def test_a_part_tells_how_far_it_is(make: list[str], tmp_path: Path) -> None:
    part = Part.start("hangs", tmp_path / "logs", make)
    try:
        wait_for(tmp_path / "hanging")
        while not part.progress():
            time.sleep(0.02)
        assert part.progress() == "41 %"
    finally:
        part.end(seconds=0)
    wait_until_gone(int((tmp_path / "hanging").read_text()))


@pytest.mark.usefixtures("make")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_lets_parts_clean_up_and_leaves_none(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tools.parts", "--logs", str(tmp_path / "logs"), "hangs", "then", "later"]
    here = {**os.environ, "PYTHONPATH": f"{ROOT}", "MAKEFLAGS": "s"}
    with subprocess.Popen(command, env=here, cwd=tmp_path, stdout=subprocess.PIPE) as process:  # noqa: S603
        wait_for(tmp_path / "hanging")
        process.send_signal(number)
        assert process.wait(60) == 130
    wait_until_gone(int((tmp_path / "hanging").read_text()))
    assert (tmp_path / "cleaned-up").exists()
    assert not (tmp_path / "later-began").exists()


def test_stages_are_what_stands_between() -> None:
    assert stages_of(["a", "then", "b", "c"]) == [["a"], ["b", "c"]]
    assert stages_of(["then", "a"]) == [["a"]]


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline, path
        time.sleep(0.02)


def wait_until_gone(pid: int) -> None:
    """It may be a zombie for a moment, until somebody has taken note of its end."""
    deadline = time.monotonic() + 60
    while lives(pid):
        assert time.monotonic() < deadline, pid
        time.sleep(0.02)


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
