"""Steps side by side: each is told once it is done, on a terminal too."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from sandbox.progress import Progress


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_may_run_side_by_side(
    *, terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1" if terminal else "0")
    progress, together = Progress(), Barrier(2)

    def step(title: str) -> None:
        with progress.step(title) as say:
            together.wait(30)
            say("half [done]")
            together.wait(30)

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(step, ["Build one", "Build two"]))
    told = capsys.readouterr().err
    assert told.count("✓") == 2
    assert "Build one" in told
    assert "Build two" in told


def test_a_step_that_fails_is_not_told_as_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    progress = Progress()

    def fail() -> None:
        with progress.step("Build"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with progress.step("Another"):
        pass
    told = capsys.readouterr().err
    assert told.count("✓") == 1
    assert told.rstrip().splitlines()[-1].count("Build") == 0
