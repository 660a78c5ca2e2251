"""A model in a folder that others write to: links, pipes, and what else a claim may hold."""

import json
import os
from pathlib import Path

import pytest

from llmservice.inspection.inspecting import Inspected, inspect_folder
from llmservice.inspection.model_files import MOST_FILES
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.models.safetensors_header import MOST_HEADER_BYTES
from sandbox.tiny_llama import write_tiny_llama
from sandbox.tiny_model import tiny_model


def own_folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


async def inspect(path: Path, root: Path | None = None, file: str = "") -> Inspected:
    return await inspect_folder(path, root or own_folder(path), file=file)


async def facts_of(path: Path, root: Path | None = None, file: str = "") -> ModelFacts:
    result = (await inspect(path, root, file)).result
    assert isinstance(result, ModelFacts), result
    return result


async def failure_of(path: Path, root: Path | None = None, file: str = "") -> InspectionFailure:
    result = (await inspect(path, root, file)).result
    assert isinstance(result, InspectionFailure), result
    return result


async def test_a_folder_as_transformers_writes_it(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path)
    facts = await facts_of(tmp_path)
    assert (facts.layers, facts.heads, facts.kv_heads, facts.head_size) == (2, 4, 2, 64)
    assert facts.file_bytes == (tmp_path / "model.safetensors").stat().st_size
    assert facts.file_bytes - 4096 < 2 * facts.parameters < facts.file_bytes
    assert facts.gated is None


async def test_a_gguf_file_by_its_path_and_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "q4").mkdir()
    file = tmp_path / "q4" / "tiny.gguf"
    file.write_bytes(tiny_model())
    ways = [await facts_of(file), await facts_of(tmp_path), await facts_of(tmp_path, file="q4/tiny.gguf")]
    assert {facts.parameters for facts in ways} == {113_856}


async def test_all_parts_of_a_split_file_count(tmp_path: Path) -> None:
    for part in (1, 2):
        (tmp_path / f"a-0000{part}-of-00002.gguf").write_bytes(tiny_model())
    facts = await facts_of(tmp_path / "a-00001-of-00002.gguf")
    assert facts.file_bytes == 2 * len(tiny_model())


async def test_a_gguf_file_may_be_a_link_inside_the_root(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(tiny_model())
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "tiny.gguf").symlink_to("../blob")
    assert (await facts_of(tmp_path / "snapshot/tiny.gguf", tmp_path)).layers == 2
    assert (await failure_of(tmp_path / "snapshot/tiny.gguf")).reason is FailureReason.FILE_MISSING


async def test_links_inside_the_root_are_followed_and_others_are_not(tmp_path: Path) -> None:
    blobs, snapshot, outside = tmp_path / "claim/blobs", tmp_path / "claim/snapshots/abc", tmp_path / "outside"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    write_tiny_llama(outside)
    for name in ("config.json", "model.safetensors"):
        (blobs / name).write_bytes((outside / name).read_bytes())
        (snapshot / name).symlink_to(f"../../blobs/{name}")
    assert (await facts_of(snapshot, tmp_path / "claim")).layers == 2
    assert (await failure_of(snapshot)).reason is FailureReason.NOT_A_MODEL
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(outside / "config.json")
    assert (await failure_of(snapshot, tmp_path / "claim")).reason is FailureReason.NOT_A_MODEL


async def test_a_path_that_leads_out_of_the_root_is_refused(tmp_path: Path) -> None:
    write_tiny_llama(tmp_path / "outside")
    (tmp_path / "claim").mkdir()
    (tmp_path / "claim" / "link").symlink_to(tmp_path / "outside")
    for path in (tmp_path / "claim/link", tmp_path / "claim/../outside"):
        assert (await failure_of(path, tmp_path / "claim")).reason is FailureReason.FILE_MISSING
    assert (await failure_of(tmp_path / "nowhere")).reason is FailureReason.FILE_MISSING


async def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    os.mkfifo(tmp_path / "a.gguf")
    assert (await failure_of(tmp_path)).reason is FailureReason.NOT_A_MODEL
    assert (await failure_of(tmp_path / "a.gguf")).reason is FailureReason.FILE_MISSING


async def test_a_folder_in_place_of_a_file_and_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    (tmp_path / "loop.gguf").symlink_to(tmp_path / "loop.gguf")
    assert (await failure_of(tmp_path)).reason is FailureReason.NOT_A_MODEL


async def test_a_folder_with_files_without_end_is_left(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / str(number)).touch()
    assert (await failure_of(tmp_path)).reason is FailureReason.TOO_LARGE


async def test_a_config_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(2**33)
    (tmp_path / "model.safetensors").touch()
    assert (await failure_of(tmp_path)).reason is FailureReason.TOO_LARGE


@pytest.mark.parametrize(
    "beginning", [b"", b"\xff" * 8, (MOST_HEADER_BYTES + 1).to_bytes(8, "little"), b"\2" + b"\0" * 9]
)
async def test_a_safetensors_header_that_cannot_be_is_no_model(tmp_path: Path, beginning: bytes) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 2}))
    (tmp_path / "model.safetensors").write_bytes(beginning)
    assert (await failure_of(tmp_path)).reason is FailureReason.NOT_A_MODEL


@pytest.mark.parametrize("size", [0, 3, 4, 24, 1000, 5000])
async def test_a_gguf_file_that_was_cut_off_says_so(tmp_path: Path, size: int) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(tiny_model()[:size])
    failure = await failure_of(file)
    assert failure.reason is FailureReason.NOT_A_MODEL
    assert "ends within its header" in failure.message


async def test_a_header_as_long_as_the_first_part_that_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes((b"GGUF" + (3).to_bytes(4, "little") + b"\0" * 8 + b"\1" + b"\0" * 7).ljust(2**19, b"\0"))
    assert (await failure_of(file)).reason is FailureReason.NOT_A_MODEL
