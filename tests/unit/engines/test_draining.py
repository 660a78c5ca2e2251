"""The command that waits until an engine is idle, run by a real shell; what it calls is put in its place."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmservice.engines.draining import wait_until_idle

CURL = """\
#!/bin/sh
case "$*" in *"--noproxy * "*) ;; *) [ -z "$http_proxy$ALL_PROXY" ] || exit 7;; esac
echo "$*" >>asked
[ $(grep -c /metrics asked) -le $BUSY ] || { echo 'engine_running 0.0'; exit 0; }
echo 'engine_running 2'
"""
"""Obeys a proxy that refuses, as curl does; of the engine it hears that it works, as often as is asked for."""


@dataclass(frozen=True)
class Shell:
    """A folder with the programs that the command calls: no time passes in it."""

    folder: Path

    def questions(self, *, busy: int, **environment: str) -> int:
        """How often the engine is asked for its gauges until the command ends."""
        command = wait_until_idle("^engine_running ", 3600)
        path = f"{self.folder}:{os.environ['PATH']}"
        subprocess.run(  # noqa: S603
            command, cwd=self.folder, env={"PATH": path, "BUSY": str(busy), **environment}, check=True, timeout=60
        )
        asked = self.folder / "asked"
        return asked.read_text().count("/metrics") if asked.exists() else 0


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    for name, text in (("curl", CURL), ("sleep", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return Shell(tmp_path)


@pytest.mark.parametrize("busy", [0, 3])
def test_ends_when_the_engine_is_idle_twice_in_a_row(shell: Shell, busy: int) -> None:
    assert shell.questions(busy=busy) == busy + 2


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
def test_asks_the_engine_itself_whatever_proxy_the_user_names(shell: Shell, variable: str) -> None:
    assert shell.questions(busy=3, **{variable: "http://proxy.example:3128"}) == 5
