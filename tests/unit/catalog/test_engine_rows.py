"""The rows of engines against what was recorded of each version."""

from itertools import pairwise
from pathlib import Path

import pytest

import llmservice.catalog
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES

ROWS = [row for versions in load_catalogue().engines.values() for row in versions.versions.values()]
NAMES = [f"{row.engine}-{row.version}" for row in ROWS]
FLAGS = Path(llmservice.catalog.__file__).parent / "flags"


def recorded_choices(name: str) -> dict[str, set[str]]:
    """`# --quantization: awq fp8` → {"--quantization": {"awq", "fp8"}}."""
    lines = (FLAGS / f"{name}.txt").read_text().splitlines()
    pairs = (line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# --"))
    return {flag: set(values.split()) for flag, values in pairs}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_no_option_is_both_known_and_removed(row: EngineVersion) -> None:
    assert row.flags & row.removed.keys() == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_older_row_knew_is_known_or_named_as_removed(engine: str) -> None:
    rows = list(load_catalogue().engines[engine].versions.values())
    for older, newer in pairwise(rows):
        gone = {flag for flag in older.flags - newer.flags if flag.startswith("--")}
        assert gone - newer.removed.keys() == set(), newer.version


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_what_is_made_on_load_can_be_asked_for(row: EngineVersion) -> None:
    assert set(row.on_load) - set(row.quantizations) == set()


@pytest.mark.parametrize("row", [row for row in ROWS if row.engine == "vllm"], ids=lambda row: row.version)
def test_vllm_knows_every_quantization_by_the_name_its_row_says(row: EngineVersion) -> None:
    known = recorded_choices(f"vllm-{row.version}")["--quantization"]
    checkpoints = set(row.quantizations) - set(row.on_load)
    assert (checkpoints | set(row.on_load.values())) - known == set()


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_images_are_pinned(row: EngineVersion) -> None:
    tags = [image.rpartition(":")[2] for image in row.images.values()]
    assert [tag for tag in tags if "latest" in tag or row.version not in tag] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_there_are_the_newest_and_two_older_versions(engine: str) -> None:
    """Of an image that this project builds itself one is enough: it is built with the version of the row."""
    rows = load_catalogue().engines[engine].versions
    images = [image for row in rows.values() for image in row.images.values()]
    assert len(rows) >= 3 or all(image.startswith("ghcr.io/llmservice/") for image in images)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_option_an_engine_may_render_is_one_of_a_recorded_version(engine: str) -> None:
    known = frozenset[str]().union(*(row.flags for row in ROWS if row.engine == engine))
    assert ENGINES[engine].flags - known == set()


@pytest.mark.parametrize("row", [row for row in ROWS if row.engine in {"vllm", "tgi"}], ids=lambda row: row.version)
def test_running_and_waiting_requests_have_a_metric(row: EngineVersion) -> None:
    assert {"running", "waiting", "generated_tokens"} <= row.metrics.keys()
