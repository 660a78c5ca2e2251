"""A model from a hub: which files come, where they lie, and what goes wrong on the way."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from huggingface_hub import scan_cache_dir, snapshot_download

from llmservice.download.progress import Progress
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_request import HUB_FOLDER, DownloadRequest
from tests.local_hub.local_hub import LocalHub
from tests.local_hub.repository import COMMIT, Fault, Repository
from tests.unit.download.downloads import (
    FIRST,
    INDEX,
    LLAMA,
    LOADED,
    SECOND,
    download,
    failure,
    files_in,
    llama,
    marker,
    model,
)

BLOBS = f"{HUB_FOLDER}/models--meta--llama/blobs"


async def test_the_files_that_an_engine_loads_come_and_no_copy_in_another_format(hub: LocalHub, root: Path) -> None:
    done = await model(root)
    assert done.path == f"huggingface/hub/models--meta--llama/snapshots/{COMMIT}"
    assert (done.commit, done.files) == (COMMIT, len(LOADED))
    assert files_in(root / done.path) == LOADED
    files = hub.repositories["meta/llama"].files
    assert all((root / done.path / name).read_bytes() == files[name] for name in LOADED)


async def test_other_tools_find_the_model_by_name_offline(hub: LocalHub, root: Path) -> None:
    done = await model(root)
    hub.repositories.clear()
    cache = root / HUB_FOLDER
    assert snapshot_download("meta/llama", cache_dir=cache, local_files_only=True) == str(root / done.path)
    found = scan_cache_dir(cache)
    assert (found.size_on_disk, found.warnings, found.incomplete_files) == (done.bytes, [], frozenset())


async def test_a_revision_is_found_by_its_own_name(hub: LocalHub, root: Path) -> None:
    hub.repositories["meta/llama"].revisions = ("refs/pr/1", COMMIT)
    request = DownloadRequest(uri="meta/llama", revision="refs/pr/1")
    done = await model(root, request)
    cache = root / HUB_FOLDER
    found = snapshot_download("meta/llama", revision="refs/pr/1", cache_dir=cache, local_files_only=True)
    assert found == str(root / done.path)


async def test_the_marker_holds_every_file_with_its_checksum(hub: LocalHub, root: Path) -> None:
    done = await model(root)
    said = marker(root)
    files = hub.repositories["meta/llama"].files
    assert {each["name"]: each["sha256"] for each in said["files"]} == {
        name: hashlib.sha256(files[name]).hexdigest() for name in LOADED
    }
    assert (said["uri"], said["commit"], said["bytes"]) == (LLAMA.uri, COMMIT, done.bytes)


async def test_a_complete_model_asks_nobody(hub: LocalHub, root: Path) -> None:
    first = await model(root)
    asked = len(hub.seen)
    again = await model(root)
    assert len(hub.seen) == asked
    assert (again.path, again.bytes, again.files) == (first.path, first.bytes, first.files)


@pytest.mark.parametrize("harm", ["gone", "short", "unmarked", "broken marker"])
async def test_a_model_that_lost_something_is_completed(hub: LocalHub, root: Path, harm: str) -> None:
    done = await model(root)
    file, served = (root / done.path / FIRST).resolve(), hub.served
    if harm == "gone":
        file.unlink()
    elif harm == "short":
        os.truncate(file, 1000)
    elif harm == "unmarked":
        (root / LLAMA.marker).unlink()
    else:
        (root / LLAMA.marker).write_text("{")
    await model(root)
    missing = hub.repositories["meta/llama"].files[FIRST] if harm in {"gone", "short"} else b""
    assert hub.served - served == len(missing) + len(
        hub.repositories["meta/llama"].files["model.safetensors.index.json"]
    )
    assert (root / done.path / FIRST).read_bytes() == hub.repositories["meta/llama"].files[FIRST]


async def test_bytes_that_changed_on_the_claim_are_loaded_again_when_there_is_no_marker(
    hub: LocalHub, root: Path
) -> None:
    done = await model(root)
    (root / LLAMA.marker).unlink()
    file = (root / done.path / SECOND).resolve()
    file.write_bytes(b"\0" * file.stat().st_size)
    await model(root)
    assert (root / done.path / SECOND).read_bytes() == hub.repositories["meta/llama"].files[SECOND]


async def test_a_cut_in_the_middle_goes_on_where_it_was(hub: LocalHub, root: Path) -> None:
    progress = Progress()
    hub.faults.append(Fault(f"other/meta/llama/resolve/{COMMIT}/{FIRST}", after=2**17, times=3))
    await download(root, progress=progress)
    assert marker(root)
    # aiohttp asks again by itself where a connection that it kept is closed before an answer: that is no error of ours.
    unseen, index = 3 - progress.errors, len(hub.repositories["meta/llama"].files["model.safetensors.index.json"])
    assert unseen in (0, 1)
    assert progress.done + index <= hub.served <= progress.done + index + unseen * 2**18


@pytest.mark.parametrize("at", ["other/", ""])
@pytest.mark.parametrize("status", [500, 503])
async def test_a_server_that_fails_is_asked_again(hub: LocalHub, root: Path, at: str, status: int) -> None:
    hub.faults.append(Fault(f"{at}meta/llama/resolve/{COMMIT}/{SECOND}", status=status, times=2))
    await model(root)
    assert marker(root)


async def test_a_signed_address_that_expires_is_asked_for_again(hub: LocalHub, root: Path) -> None:
    hub.expires_after = 3
    await model(root, parallel=1)
    resolved = [each for each in hub.asked("hub") if FIRST in each.path]
    assert len(resolved) > 1


async def test_a_throttling_hub_is_asked_when_it_says(hub: LocalHub, root: Path) -> None:
    hub.faults.append(Fault(f"resolve/{COMMIT}/{FIRST}", status=429, headers={"Retry-After": "1"}, times=1))
    hub.faults.append(Fault("api/models", status=429, headers={"RateLimit": '"api";r=0;t=1'}, times=1))
    assert (await model(root)).seconds >= 2


async def test_a_hub_that_throttles_for_long_is_not_waited_for(hub: LocalHub, root: Path) -> None:
    hub.faults.append(Fault(f"resolve/{COMMIT}/{FIRST}", status=429, headers={"Retry-After": "86400"}))
    assert (await failure(root)).reason is DownloadFailureReason.THROTTLED


async def test_wrong_bytes_are_loaded_once_more(hub: LocalHub, root: Path) -> None:
    progress = Progress()
    hub.faults.append(Fault(f"other/meta/llama/resolve/{COMMIT}/{FIRST}", wrong=True, times=1))
    await download(root, progress=progress)
    assert marker(root)
    assert (
        progress.done == progress.expected == marker(root)["bytes"] + len(hub.repositories["meta/llama"].files[FIRST])
    )


@pytest.mark.parametrize("name", [FIRST, "config.json"])
async def test_wrong_bytes_never_get_a_marker(hub: LocalHub, root: Path, name: str) -> None:
    hub.faults.append(Fault(f"resolve/{COMMIT}/{name}", wrong=True))
    failed = await failure(root)
    assert failed.reason is DownloadFailureReason.CHECKSUM_MISMATCH
    assert name in failed.message
    assert marker(root) is None
    assert not (root / HUB_FOLDER / "models--meta--llama" / "snapshots" / COMMIT / name).exists()
    right = hub.repositories["meta/llama"].files
    assert {path.read_bytes() for path in (root / BLOBS).iterdir() if path.suffix != ".incomplete"} <= set(
        right.values()
    )


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (DownloadRequest(uri="meta/none"), DownloadFailureReason.REPOSITORY_UNKNOWN),
        (DownloadRequest(uri="meta/llama", revision="v9"), DownloadFailureReason.REVISION_UNKNOWN),
        (DownloadRequest(uri="meta/gated"), DownloadFailureReason.GATED),
        (DownloadRequest(uri="tiny/words"), DownloadFailureReason.NOT_A_MODEL),
        (DownloadRequest(uri="tiny/many", format="gguf"), DownloadFailureReason.FILE_MISSING),
        (DownloadRequest(uri="tiny/many", format="gguf", file="x.gguf"), DownloadFailureReason.FILE_MISSING),
    ],
)
async def test_a_refusal_is_told_as_an_inspection_tells_it(
    hub: LocalHub, root: Path, request_: DownloadRequest, reason: DownloadFailureReason
) -> None:
    assert hub.url
    assert (await failure(root, request_)).reason is reason


async def test_a_token_opens_a_gated_model_and_goes_to_the_hub_alone(
    hub: LocalHub, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    await model(root, DownloadRequest(uri="meta/gated"))
    assert all(each.authorization == "Bearer hf_right" for each in hub.asked("hub"))
    assert {each.authorization for each in hub.asked("other")} == {""}


@pytest.mark.parametrize(
    ("asked", "files"),
    [
        ({"file": "many-Q4_K_M.gguf"}, {"many-Q4_K_M.gguf"}),
        ({"quantization": "q4_k_m"}, {"many-Q4_K_M.gguf"}),
        ({"quantization": "auto"}, {"many-Q4_K_M.gguf"}),
        ({"quantization": "Q8_0"}, {"many-Q8_0-00001-of-00002.gguf", "many-Q8_0-00002-of-00002.gguf"}),
    ],
)
async def test_of_gguf_files_one_model_comes_with_all_its_parts(
    hub: LocalHub, root: Path, asked: dict[str, str], files: set[str]
) -> None:
    assert hub.url
    done = await model(root, DownloadRequest(uri="tiny/many", format="gguf", **asked))
    assert files_in((root / done.path).parent) == files
    assert (root / done.path).name == min(files)


async def test_a_gguf_file_that_no_answer_could_name_is_refused_before_it_is_loaded(hub: LocalHub, root: Path) -> None:
    hub.repositories["tiny/spaced"] = Repository(files={"my model.gguf": b"GGUF" * 9})
    failed = await failure(root, DownloadRequest(uri="tiny/spaced", format="gguf"))
    assert failed.reason is DownloadFailureReason.NOT_A_MODEL
    assert "my model.gguf" in failed.message
    assert not (root / HUB_FOLDER).exists()


async def test_names_that_lead_out_of_the_folder_are_not_taken(hub: LocalHub, root: Path) -> None:
    evil = {
        "../../../evil.json": b"{}",
        "/etc/evil.json": b"{}",
        "a/../../evil.json": b"{}",
        "x" * 300 + ".json": b"{}",
    }
    hub.repositories["meta/evil"] = Repository(files={**llama().files, **evil})
    done = await model(root, DownloadRequest(uri="meta/evil"))
    assert done.files == len(LOADED)
    assert not list(root.parent.rglob("*evil.json*"))


async def test_a_link_that_leads_out_of_the_claim_is_not_followed(hub: LocalHub, root: Path, tmp_path: Path) -> None:
    assert hub.url
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / HUB_FOLDER).mkdir(parents=True)
    (root / HUB_FOLDER / "models--meta--llama").symlink_to(outside)
    assert (await failure(root)).reason is DownloadFailureReason.NOT_WRITABLE
    assert not list(outside.iterdir())


async def test_two_revisions_with_the_same_files_load_them_once(hub: LocalHub, root: Path) -> None:
    await model(root)
    served = hub.served
    await model(root, DownloadRequest(uri="meta/llama", revision=COMMIT))
    assert hub.served - served == len(hub.repositories["meta/llama"].files["model.safetensors.index.json"])


async def test_files_with_the_same_content_come_once_and_whole(hub: LocalHub, root: Path) -> None:
    weights, progress = os.urandom(20_000_000), Progress()
    files = {"config.json": b"{}", "generation_config.json": b"{}", "tokenizer.json": b"{}", FIRST: weights}
    files |= {SECOND: weights, "model.safetensors.index.json": INDEX}
    hub.repositories["tiny/twins"] = Repository(files=files)
    done = await download(root, DownloadRequest(uri="tiny/twins"), progress)
    assert isinstance(done, DownloadedModel), done
    assert {name: (root / done.path / name).read_bytes() == data for name, data in files.items()} == dict.fromkeys(
        files, True
    )
    assert hub.served < 1.5 * len(weights)
    assert (progress.done, progress.files_done) == (progress.expected, progress.files_expected)
    assert (progress.done, progress.files_done) == (sum(map(len, files.values())), len(files))


@pytest.mark.parametrize("told", [{}, {"size": None}, {"size": -1}, {"size": "7"}, {"size": 2**60}, {"lfs": {}}])
async def test_a_mirror_that_tells_no_sizes_fills_no_claim_with_empty_files(
    hub: LocalHub, root: Path, told: dict[str, object]
) -> None:
    """Some answer without what `blobs=true` asks for."""
    siblings = [{"rfilename": name, **told} for name in ("config.json", "model.safetensors")]
    hub.faults[:] = [Fault("api/models", body=json.dumps({"siblings": siblings, "sha": COMMIT}).encode())]
    failed = await failure(root)
    assert (failed.reason, "size" in failed.message) == (DownloadFailureReason.NO_ROUTE, True)
    assert marker(root) is None


async def test_a_size_that_is_not_told_of_what_no_engine_loads_keeps_nobody(hub: LocalHub, root: Path) -> None:
    answer = hub.repositories["meta/llama"].answer()
    siblings = [{**each, "size": None} if each["rfilename"] == "photo.png" else each for each in answer["siblings"]]
    hub.faults[:] = [Fault("api/models", body=json.dumps({**answer, "siblings": siblings}).encode())]
    assert (await model(root)).files == len(LOADED)


async def test_a_hub_that_answers_something_else_is_told_as_that(hub: LocalHub, root: Path) -> None:
    for body in (b"<html>", json.dumps({"siblings": [], "sha": "x"}).encode()):
        hub.faults[:] = [Fault("api/models", body=body)]
        assert (await failure(root)).reason is DownloadFailureReason.NO_ROUTE
