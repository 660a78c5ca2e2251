"""Files that a hub keeps in Xet: the real client, with a store of its own in a folder."""

import asyncio
import socket
from pathlib import Path

import hf_xet  # type: ignore[import-untyped]
import pytest

from llmservice.download import hub_source, xet
from llmservice.download.progress import Progress
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from tests.local_hub.local_hub import LocalHub
from tests.local_hub.repository import COMMIT, Fault
from tests.unit.download.downloads import FIRST, SECOND, download, failure, files_in, marker, model


@pytest.fixture
def in_xet(hub: LocalHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LocalHub:
    """The weights are in Xet, and nowhere else where nothing fails."""
    monkeypatch.setattr(xet, "SCHEMES", ("local",))
    monkeypatch.setattr(hub_source, "_LEAST_XET_BYTES", 1)
    repository, store = hub.repositories["meta/llama"], tmp_path / "store"
    store.mkdir()
    hub.xet_store = f"local://{store}"
    with hf_xet.XetSession().new_upload_commit(endpoint=hub.xet_store) as commit:
        sent = {name: commit.start_upload_bytes(repository.files[name]) for name in (FIRST, SECOND)}
    repository.xet = {name: each.result().xet_info.hash for name, each in sent.items()}
    return hub


def over_http(hub: LocalHub) -> list[str]:
    return [each.path for each in hub.asked("other") if FIRST in each.path or SECOND in each.path]


async def test_files_in_xet_come_from_its_store(in_xet: LocalHub, root: Path) -> None:
    done = await model(root)
    files = in_xet.repositories["meta/llama"].files
    assert all((root / done.path / name).read_bytes() == files[name] for name in (FIRST, SECOND))
    assert not over_http(in_xet)


async def test_what_is_there_of_a_file_is_not_asked_of_xet_again(in_xet: LocalHub, root: Path) -> None:
    in_xet.bytes_per_second = 2e6
    in_xet.xet_store, store = "", in_xet.xet_store
    await failure(root, seconds=1.0, parallel=1)
    assert [name for name in files_in(root) if name.endswith(".incomplete")]
    in_xet.xet_store, asked = store, len(over_http(in_xet))
    await model(root)
    assert len(over_http(in_xet)) == asked


async def test_where_xet_is_out_of_reach_the_hub_serves(in_xet: LocalHub, root: Path) -> None:
    in_xet.xet_store = "local:///proc/nowhere"
    progress = Progress()
    await download(root, progress=progress)
    assert marker(root)
    assert progress.errors
    assert over_http(in_xet)


async def test_a_store_that_is_not_reached_by_https_is_not_believed(
    in_xet: LocalHub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xet, "SCHEMES", ("https",))
    await model(root)
    assert over_http(in_xet)


@pytest.mark.parametrize("is_wrong_too", [True, False])
async def test_wrong_bytes_from_xet_are_loaded_from_the_hub_or_never_marked(
    in_xet: LocalHub, root: Path, *, is_wrong_too: bool
) -> None:
    repository = in_xet.repositories["meta/llama"]
    repository.xet[FIRST] = repository.xet[SECOND]
    if is_wrong_too:
        in_xet.faults.append(Fault(f"other/meta/llama/resolve/{COMMIT}/{FIRST}", wrong=True))
    await download(root)
    assert bool(marker(root)) is not is_wrong_too


async def test_xet_is_left_out_where_the_environment_says_so(
    in_xet: LocalHub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    await model(root)
    assert over_http(in_xet)


async def test_a_store_that_never_answers_keeps_no_download_from_ending(
    in_xet: LocalHub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xet, "SCHEMES", ("http",))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        in_xet.xet_store = f"http://127.0.0.1:{silent.getsockname()[1]}"
        task = asyncio.ensure_future(download(root))
        while not any("xet-read-token" in each.path for each in in_xet.seen):  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # the hub runs in another thread
        task.cancel()
        result = await asyncio.wait_for(task, 10)
    assert isinstance(result, DownloadFailure)
    assert result.reason is DownloadFailureReason.INTERRUPTED
