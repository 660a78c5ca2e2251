"""A download that is killed, told to end, or not alone: what came is kept, and nothing comes twice."""

import asyncio
import functools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from llmservice.download import downloading
from llmservice.download.claim import Claim
from llmservice.download.lock import Lock
from llmservice.download.progress import Progress
from llmservice.models.download_answer import DownloadedModel, result_in
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_request import MARKERS_FOLDER
from tests.local_hub.local_hub import LocalHub
from tests.ports import free_port
from tests.unit.download.downloads import FIRST, LLAMA, download, failure, llama, marker, model, started

PIECE = 8 * 2**20
MB = 10**6


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def large(hub: LocalHub) -> LocalHub:
    """A model of 60 MB in two files, at 40 MB/s each."""
    hub.repositories["meta/llama"] = llama(40 * MB)
    hub.bytes_per_second = 40.0 * MB
    return hub


def test_a_download_that_is_killed_three_times_goes_on_where_it_was(large: LocalHub, root: Path) -> None:
    size = sum(
        len(data) for name, data in large.repositories["meta/llama"].files.items() if name.endswith("2.safetensors")
    )
    for kill in (1, 2, 3):
        running = started(root, LLAMA.uri, "--parallel", "1")
        until(lambda served=kill * 14 * MB: large.served > served)  # type: ignore[misc]
        running.process.kill()
        running.end()
        assert marker(root) is None
    code, _, error = started(root).end()
    assert code == 0, error
    said = marker(root)
    lost_at_most = 3 * (PIECE + 4 * 2**20)  # the piece in memory, and what was in the sockets
    assert said["bytes"] >= size
    assert said["bytes"] <= large.served <= said["bytes"] + lost_at_most


def test_a_download_that_is_told_to_end_says_how_far_it_came(large: LocalHub, root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    running = started(root, LLAMA.uri, "--termination-log", str(log), "--parallel", "1")
    until(lambda: large.served > 20 * MB)
    told = time.monotonic()
    running.process.send_signal(signal.SIGTERM)
    code, out, _ = running.end(5.0)
    assert time.monotonic() - told < 5
    assert code == 0
    result = result_in(log.read_text())
    assert result == result_in(out)
    assert isinstance(result, DownloadFailure)
    assert result.reason is DownloadFailureReason.INTERRUPTED
    assert 0 < result.done < result.total
    assert not list((root / MARKERS_FOLDER).glob("*.lock"))
    assert started(root).end()[0] == 0
    assert marker(root)["bytes"] == result.total


def test_while_it_runs_its_metrics_say_how_far_it_is(large: LocalHub, root: Path) -> None:
    port = free_port()
    running = started(root, LLAMA.uri, "--metrics-port", str(port))
    until(lambda: large.served > 20 * MB)
    page = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5).text
    values = {line.split()[0]: float(line.split()[1]) for line in page.splitlines() if not line.startswith("#")}
    running.process.terminate()
    running.end()
    assert 0 <= values["llmservice_download_bytes_total"] < values["llmservice_download_expected_bytes"]
    assert values["llmservice_download_expected_bytes"] > 60 * MB
    assert values["llmservice_download_files_total"] < values["llmservice_download_expected_files"] == 9
    assert values["llmservice_download_errors_total"] == 0


def test_two_at_once_load_the_model_once(large: LocalHub, root: Path) -> None:
    large.bytes_per_second = 0.0
    both = [started(root), started(root)]
    assert [each.end()[0] for each in both] == [0, 0]
    assert large.served == marker(root)["bytes"] + len(
        large.repositories["meta/llama"].files["model.safetensors.index.json"]
    )


async def test_the_lock_of_a_dead_one_on_another_node_is_taken_over(hub: LocalHub, root: Path) -> None:
    assert hub.url
    lock = Lock(Claim(root), root / MARKERS_FOLDER / "x.lock", dead_seconds=0.2)
    lock.path.parent.mkdir()
    lock.path.write_text(json.dumps({"name": "other", "host": "elsewhere", "pid": 1, "beat": 7}))
    async with lock.held(lost=lambda: None):
        assert json.loads(lock.path.read_text())["beat"] == 0
    assert not lock.path.exists()


async def test_the_lock_of_one_that_lives_is_waited_for(root: Path) -> None:
    path, order = root / MARKERS_FOLDER / "x.lock", []
    first, second = (Lock(Claim(root), path, beat_seconds=0.02, dead_seconds=0.2) for _ in range(2))

    async def hold(lock: Lock, name: str, seconds: float) -> None:
        async with lock.held(
            lost=lambda: order.append(f"{name} lost it"), waiting=lambda: order.append(f"{name} waits")
        ):
            order.append(name)
            await asyncio.sleep(seconds)
            order.append(f"{name} is done")

    async with asyncio.TaskGroup() as group:
        group.create_task(hold(first, "first", 0.5))
        await asyncio.sleep(0.05)
        group.create_task(hold(second, "second", 0))
    assert order == ["first", "second waits", "first is done", "second", "second is done"]


async def test_who_lost_the_lock_is_told(root: Path) -> None:
    path, lost = root / MARKERS_FOLDER / "x.lock", asyncio.Event()
    async with Lock(Claim(root), path, beat_seconds=0.01).held(lost=lost.set):
        path.write_text(json.dumps({"name": "other", "host": "elsewhere", "pid": 1, "beat": 7}))
        await asyncio.wait_for(lost.wait(), 5)
    assert json.loads(path.read_text())["name"] == "other"


async def test_a_download_whose_lock_another_took_ends_without_a_marker(
    hub: LocalHub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading, "Lock", functools.partial(Lock, beat_seconds=0.02))
    hub.bytes_per_second = 1.0 * MB
    task = asyncio.ensure_future(failure(root))
    while not hub.served:  # noqa: ASYNC110  (the hub runs in another thread)
        await asyncio.sleep(0.01)
    (lock,) = (root / MARKERS_FOLDER).glob("*.lock")
    lock.write_text(json.dumps({"name": "other", "host": "elsewhere", "pid": 1, "beat": 7}))
    failed = await task
    assert failed.reason is DownloadFailureReason.INTERRUPTED
    assert "another" in failed.message
    assert marker(root) is None
    assert lock.exists()


async def test_the_time_that_was_given_is_kept(hub: LocalHub, root: Path) -> None:
    hub.bytes_per_second = 500_000
    failed = await failure(root, seconds=1.0)
    assert failed.reason is DownloadFailureReason.TIMED_OUT
    assert 0 < failed.done < failed.total


async def test_the_bandwidth_that_was_given_is_kept(hub: LocalHub, root: Path) -> None:
    done = await model(root, bandwidth=3_000_000)
    assert hub.served >= done.bytes
    assert done.seconds >= 0.8 * done.bytes / 3_000_000


@pytest.fixture
def small_disk(root: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(root)], check=False)  # noqa: S603,S607
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield root
    subprocess.run(["umount", "-l", str(root)], check=True)  # noqa: S603,S607


async def test_a_disk_without_room_is_told_before_anything_is_loaded(hub: LocalHub, small_disk: Path) -> None:
    hub.repositories["meta/llama"] = llama(7 * MB)
    failed = await failure(small_disk)
    assert failed.reason is DownloadFailureReason.DISK_FULL
    assert 10 * MB < failed.needed < 11 * MB
    assert 0 < failed.free < failed.needed
    assert hub.served < MB


async def test_a_disk_that_others_fill_meanwhile_is_told_with_both_numbers(hub: LocalHub, small_disk: Path) -> None:
    hub.repositories["meta/llama"] = llama(4 * MB)
    hub.bytes_per_second = 2.0 * MB
    progress = Progress()

    def fill() -> None:
        until(lambda: progress.done > MB)
        (small_disk / "ballast").write_bytes(b"x" * int(5.5 * MB))

    other = threading.Thread(target=fill)
    other.start()
    failed = await download(small_disk, progress=progress)
    other.join()
    assert isinstance(failed, DownloadFailure), failed
    assert failed.reason is DownloadFailureReason.DISK_FULL
    assert failed.free < failed.needed < 6 * MB
    (small_disk / "ballast").unlink()
    assert isinstance(await download(small_disk), DownloadedModel)


async def test_a_claim_that_cannot_be_written_is_told_as_that(hub: LocalHub, root: Path) -> None:
    assert hub.url
    (root / "huggingface").write_text("a file where a folder belongs")
    assert (await failure(root)).reason is DownloadFailureReason.NOT_WRITABLE
    assert (await failure(root / "missing")).reason is DownloadFailureReason.NOT_WRITABLE


async def test_a_file_in_the_way_that_is_no_file_is_not_waited_for(hub: LocalHub, root: Path) -> None:
    done = await model(root)
    blob = (root / done.path / FIRST).resolve()
    (root / LLAMA.marker).unlink()
    blob.unlink()
    os.mkfifo(f"{blob}.incomplete")
    assert (await failure(root)).reason is DownloadFailureReason.NOT_WRITABLE
    assert hub.url
