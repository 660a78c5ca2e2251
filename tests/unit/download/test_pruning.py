"""A claim as real downloads leave it: what `llmservice cache` lists and removes there, and what is left works."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from huggingface_hub import scan_cache_dir

from llmservice.cli.cache import command
from llmservice.inspection.hub_cache import snapshot_in
from llmservice.models.download_request import HUB_FOLDER, DownloadRequest
from tests.local_hub.local_hub import LocalHub
from tests.unit.download.downloads import LLAMA, download, files_in, model

_Q4 = DownloadRequest(uri="hf://tiny/many", format="gguf", quantization="Q4_K_M")
_Q8 = DownloadRequest(uri="hf://tiny/many", format="gguf", quantization="Q8_0")


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(command, [*map(str, arguments), "-o", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.usefixtures("hub")
async def test_a_claim_lists_its_downloads(root: Path) -> None:
    done = {request.key: await model(root, request) for request in (LLAMA, _Q4, _Q8)}
    rows = {row["key"]: row for row in run("list", "--root", root)}
    assert rows.keys() == done.keys()
    for key, row in rows.items():
        found = done[key]
        assert (row["path"], row["bytes"], row["files"]) == (found.path, found.bytes, found.files)
        assert (row["revision"], row["state"]) == (found.commit, "Downloaded")


@pytest.mark.usefixtures("hub")
async def test_of_two_downloads_of_one_snapshot_one_goes_and_the_other_stays_whole(root: Path) -> None:
    for request in (LLAMA, _Q4, _Q8):
        await model(root, request)
    removed = run("prune", "--root", root, "--keep", _Q8.key, "--yes")
    assert removed["bytes"] > 4_000_000
    assert not (root / HUB_FOLDER / "models--meta--llama").exists()
    snapshot = snapshot_in(root / HUB_FOLDER, "tiny/many", "")
    assert files_in(snapshot) == {f"many-Q8_0-0000{number}-of-00002.gguf" for number in (1, 2)}
    assert scan_cache_dir(root / HUB_FOLDER).warnings == []
    assert [row["key"] for row in run("list", "--root", root)] == [_Q8.key]
    assert run("prune", "--root", root)["files"] == []


async def test_what_was_removed_is_downloaded_again_and_what_is_kept_asks_nobody(hub: LocalHub, root: Path) -> None:
    for request in (LLAMA, _Q4):
        await model(root, request)
    run("prune", "--root", root, "--keep", _Q4.key, "--yes")
    assert (await model(root, LLAMA)).seconds >= 0
    assert {row["key"] for row in run("list", "--root", root)} == {LLAMA.key, _Q4.key}
    hub.repositories.clear()
    assert (await download(root, _Q4)) == (await model(root, _Q4))
