import sys

import pytest

from sandbox.commands import follow, run
from sandbox.errors import SandboxError
from sandbox.waiting import wait_until

FAILS = [sys.executable, "-c", "import sys; print('half done'); print('no such device', file=sys.stderr); sys.exit(3)"]


def test_a_failure_shows_what_the_program_said() -> None:
    with pytest.raises(SandboxError, match="ended with 3:\n  no such device"):
        run(FAILS)


def test_a_missing_program_names_the_preflight() -> None:
    with pytest.raises(SandboxError, match="no-such-program is not installed"):
        run(["no-such-program"])


def test_follow_hands_on_every_line() -> None:
    lines: list[str] = []
    follow([sys.executable, "-c", "print('one'); print('two')"], lines.append)
    assert lines == ["one", "two"]


def test_a_failure_of_a_long_program_shows_its_last_lines() -> None:
    with pytest.raises(SandboxError, match="no such device"):
        follow(FAILS, lambda _line: None)


def test_waiting_in_vain_says_for_what_and_the_last_complaint() -> None:
    def refuse() -> bool:
        raise SandboxError("connection refused")

    with pytest.raises(SandboxError, match=r"node Ready: not within 0 s \(connection refused\)"):
        wait_until(refuse, "node Ready", timeout_seconds=0.01)
