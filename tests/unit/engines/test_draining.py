"""The command that waits until an engine is idle, run by a real shell; what it calls is put in its place."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmservice.engines.draining import wait_for_proxy, wait_until_idle
from tests.unit.engines.hub_request import a_request, a_version

CURL = """\
#!/bin/sh
case "$*" in *"--noproxy * "*) ;; *) [ -z "$http_proxy$ALL_PROXY" ] || exit 7;; esac
echo "$*" >>asked
[ $(grep -c /metrics asked) -le $BUSY ] || { echo 'engine_running 0.0'; exit 0; }
echo 'engine_running 2'
"""
"""Obeys a proxy that refuses, as curl does; of the engine it hears that it works, as often as is asked for."""


SOCKETS = """\
#!/bin/sh
[ "$1" = /proc/net/tcp ] || exit 1
echo '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
echo '   0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 30 1 0'
echo '   1: 0100000A:9C40 0200000A:1F40 01 00000400:00000000 00:00000000 00000000     0        0 31 1 0'
[ $(grep -c /metrics asked) -gt $UNSENT ] ||
  echo '   2: 0100000A:1F40 0300000A:E1B2 01 00012C00:00000000 01:00000014 00000000     0        0 32 1 0'
"""
"""Of `cat`: proc(5) as it was read in a pod. A client of the engine takes what waits for it after so many looks."""


@dataclass(frozen=True)
class Shell:
    """A folder with the programs that the command calls: no time passes in it."""

    folder: Path

    def questions(self, *, busy: int, unsent: int = 0, until_sent: bool = True, proxy: str = "") -> int:
        """How often the engine is asked for its gauges until the command ends; `proxy` is a variable that names one."""
        request = a_request(a_version("llamacpp"), drain_seconds=3600, drains_until_sent=until_sent)
        command = wait_until_idle(request, "^engine_running ")
        path = f"{self.folder}:{os.environ['PATH']}"
        subprocess.run(  # noqa: S603
            command,
            cwd=self.folder,
            env={"PATH": path, "BUSY": str(busy), "UNSENT": str(unsent), proxy or "NONE": "http://proxy.example:3128"},
            check=True,
            timeout=60,
        )
        asked = self.folder / "asked"
        return asked.read_text().count("/metrics") if asked.exists() else 0


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    for name, text in (("curl", CURL), ("sleep", "#!/bin/sh\n"), ("cat", SOCKETS)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return Shell(tmp_path)


@pytest.mark.parametrize("busy", [0, 3])
def test_ends_when_the_engine_is_idle_twice_in_a_row(shell: Shell, busy: int) -> None:
    assert shell.questions(busy=busy) == busy + 2


def test_waits_for_clients_that_read_slowly(shell: Shell) -> None:
    """And not for what the pod itself sends to others on that port."""
    assert shell.questions(busy=1, unsent=4) == 4 + 2


def test_an_older_rendering_does_not(shell: Shell) -> None:
    assert shell.questions(busy=1, unsent=4, until_sent=False) == 1 + 2


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
def test_asks_the_engine_itself_whatever_proxy_the_user_names(shell: Shell, variable: str) -> None:
    assert shell.questions(busy=3, proxy=variable) == 5


CONNECTIONS = """\
#!/bin/sh
[ "$1" = /proc/net/tcp ] || exit 1
echo '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
echo '   0: 0100007F:1F41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 30 1 0'
echo '   1: 0100007F:1F41 0100007F:C1E8 06 00000000:00000000 03:0000163E 00000000     0        0 0 3 0'
echo look >>looks
[ $(grep -c . looks) -gt $RUNNING ] ||
  echo '   2: 0100007F:1F41 0100007F:CBA2 01 00000000:00000000 00:00000000 00000000     0        0 31 1 0'
[ $(grep -c . looks) -gt $UNSENT ] ||
  echo '   3: 0100000A:1F40 0300000A:E1B2 01 00012C00:00000000 01:00000014 00000000     0        0 32 1 0'
"""
"""Of `cat`, behind a proxy: as many looks find a request with the engine, and bytes that a client has not taken."""


@pytest.mark.parametrize(("running", "unsent", "least"), [(0, 0, 4), (5, 0, 6), (0, 9, 10)])
def test_behind_a_proxy_it_waits_until_no_request_is_with_the_engine(
    tmp_path: Path, running: int, unsent: int, least: int
) -> None:
    for name, text in (("sleep", "#!/bin/sh\n"), ("cat", CONNECTIONS)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    request = a_request(a_version("llamacpp"), drain_seconds=3600, host="127.0.0.1", port=8001)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {"PATH": path, "RUNNING": str(running), "UNSENT": str(unsent)}
    subprocess.run(wait_for_proxy(request), cwd=tmp_path, env=environment, check=True, timeout=60)  # noqa: S603
    looks = (tmp_path / "looks").read_text().count("look")
    assert least <= looks <= least + 3
