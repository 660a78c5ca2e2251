import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from sandbox.processes import ProcessIdentity

BOOT = "11111111-2222-3333-4444-555555555555"


def a_proc(folder: Path, pid: int, *, name: str = "etcd", state: str = "S", start_ticks: int = 4711) -> Path:
    """A /proc with one process."""
    boot_id = folder / "sys/kernel/random/boot_id"
    boot_id.parent.mkdir(parents=True, exist_ok=True)
    boot_id.write_text(f"{BOOT}\n")
    (folder / str(pid)).mkdir(exist_ok=True)
    (folder / str(pid) / "stat").write_text(f"{pid} ({name}) {state} 1{' 0' * 17} {start_ticks} 0 0\n")
    return folder


def test_reads_when_a_process_started(tmp_path: Path) -> None:
    proc = a_proc(tmp_path, 42, start_ticks=99)
    assert ProcessIdentity.of(42, proc) == ProcessIdentity(pid=42, start_ticks=99, boot_id=BOOT)


def test_is_not_misled_by_a_process_name_with_parentheses(tmp_path: Path) -> None:
    identity = ProcessIdentity.of(42, a_proc(tmp_path, 42, name="a) Z 7 (b", start_ticks=99))
    assert identity is not None
    assert identity.start_ticks == 99


def test_a_zombie_is_no_process(tmp_path: Path) -> None:
    assert ProcessIdentity.of(42, a_proc(tmp_path, 42, state="Z")) is None


def test_a_missing_pid_is_no_process(tmp_path: Path) -> None:
    assert ProcessIdentity.of(43, a_proc(tmp_path, 42)) is None


def test_another_process_with_the_same_pid_is_not_the_recorded_one(tmp_path: Path) -> None:
    recorded = ProcessIdentity.of(42, a_proc(tmp_path, 42, start_ticks=1))
    a_proc(tmp_path, 42, start_ticks=2)
    assert recorded is not None
    assert not recorded.is_running(tmp_path)


def test_the_same_pid_and_start_in_another_boot_is_not_the_recorded_one(tmp_path: Path) -> None:
    recorded = ProcessIdentity.of(42, a_proc(tmp_path, 42))
    assert recorded is not None
    assert recorded.is_running(tmp_path)
    assert not replace(recorded, boot_id="another").is_running(tmp_path)


def test_a_record_survives_the_file(tmp_path: Path) -> None:
    identity = ProcessIdentity(pid=1, start_ticks=2, boot_id=BOOT)
    identity.save(tmp_path / "etcd.json", digest="abc")
    assert ProcessIdentity.load(tmp_path / "etcd.json") == identity


def test_a_record_cut_short_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "etcd.json").write_text('{"pid": 1, "sta')
    assert ProcessIdentity.load(tmp_path / "etcd.json") is None
    assert ProcessIdentity.load(tmp_path / "absent.json") is None


def test_stop_ends_the_recorded_process() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        identity = ProcessIdentity.of(process.pid)
        assert identity is not None
        assert identity.stop(signal.SIGKILL, timeout_seconds=30)
    assert process.returncode == -signal.SIGKILL


def test_stop_leaves_a_stranger_with_the_same_pid_alone() -> None:
    myself = ProcessIdentity.of(os.getpid())
    assert myself is not None
    recorded_long_ago = replace(myself, start_ticks=myself.start_ticks - 1)
    assert recorded_long_ago.stop(signal.SIGKILL, timeout_seconds=1)
