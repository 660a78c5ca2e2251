"""Which image: by device, through mirrors, or the user's own."""

from typing import Any

import pytest

from llmservice.planning.facts import RegistrySettings
from llmservice.planning.images import mirrored
from tests.unit.planning.planned import HUB, L4, default_of, planned, refused

OFFICIAL = "ghcr.io/ggml-org/llama.cpp"


@pytest.mark.parametrize(
    ("gpu", "image"),
    [
        ({"count": 0}, f"{OFFICIAL}:server-b11312"),
        ({"type": "L4"}, f"{OFFICIAL}:server-cuda-b11312"),
        ({"type": "MI300X"}, f"{OFFICIAL}:server-rocm-b11312"),
        ({"resourceName": "nvidia.com/mig-1g.5gb"}, f"{OFFICIAL}:server-cuda-b11312"),
    ],
)
def test_the_device_decides_the_variant(gpu: dict[str, Any], image: str) -> None:
    assert planned(**HUB, spec__gpu=gpu).container.image == image


@pytest.mark.parametrize("gpu", [{"type": "TPU-v6e"}, {"resourceName": "acme.example/npu"}])
def test_a_device_without_an_image_is_refused_with_the_field_to_set(gpu: dict[str, str]) -> None:
    error = refused(**HUB, spec__gpu=gpu)
    assert (error.reason, error.field) == ("UnsupportedField", "spec.gpu")
    assert (gpu.get("type") or gpu["resourceName"]) in str(error)
    assert "spec.engineOptions.image" in str(error)


def test_with_an_image_of_ones_own_any_device_will_do() -> None:
    own = {"version": "b11312", "image": "registry.example/own:1"}
    plan = planned(**HUB, spec__gpu={"resourceName": "acme.example/npu"}, spec__engineOptions=own)
    assert (plan.container.image, plan.resource_name) == ("registry.example/own:1", "acme.example/npu")
    assert default_of(plan, "engineOptions.image") == ""


@pytest.mark.parametrize(
    ("mirrors", "image"),
    [
        ({}, "ghcr.io/a/b:1"),
        ({"ghcr.io": "mirror.example/ghcr"}, "mirror.example/ghcr/a/b:1"),
        ({"ghcr.io/": "mirror.example/"}, "mirror.example/a/b:1"),
        ({"ghcr.io": "x", "ghcr.io/a": "y"}, "y/b:1"),
        ({"ghcr.i": "x", "docker.io": "y"}, "ghcr.io/a/b:1"),
    ],
)
def test_the_longest_prefix_is_replaced(mirrors: dict[str, str], image: str) -> None:
    assert mirrored("ghcr.io/a/b:1", mirrors) == image


@pytest.mark.parametrize(
    ("image", "mirrors", "found"),
    [
        ("owner/name:1", {"docker.io": "mirror.example/hub"}, "mirror.example/hub/owner/name:1"),
        ("owner/name:1", {"docker.io/owner": "mirror.example"}, "mirror.example/name:1"),
        ("name:1", {"docker.io": "mirror.example/hub"}, "mirror.example/hub/library/name:1"),
        ("localhost/name:1", {"docker.io": "mirror.example/hub"}, "localhost/name:1"),
        ("registry:5000/name:1", {"docker.io": "mirror.example/hub"}, "registry:5000/name:1"),
        ("owner/name:1", {"ghcr.io": "mirror.example"}, "owner/name:1"),
        ("owner/name:1", {"owner": "mirror.example/owner"}, "mirror.example/owner/name:1"),
    ],
)
def test_a_short_name_is_one_of_docker_io(image: str, mirrors: dict[str, str], found: str) -> None:
    assert mirrored(image, mirrors) == found


def test_a_mirrored_image_is_explained_with_the_original() -> None:
    plan = planned(registry=RegistrySettings(mirrors={"ghcr.io": "mirror.example"}), **HUB, **L4)
    assert plan.container.image == "mirror.example/ggml-org/llama.cpp:server-cuda-b11312"
    reason = next(default.reason for default in plan.defaults if default.field == "engineOptions.image")
    assert f"{OFFICIAL}:server-cuda-b11312" in reason


def test_an_image_of_ones_own_is_taken_as_written() -> None:
    own = {"version": "b11312", "image": "ghcr.io/own/image:1"}
    plan = planned(registry=RegistrySettings(mirrors={"ghcr.io": "mirror.example"}), spec__engineOptions=own)
    assert plan.container.image == "ghcr.io/own/image:1"
