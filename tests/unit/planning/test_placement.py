"""Nodes whose devices are divided: avoided unless they are asked for; and machines that the image exists for."""

from typing import Any

import pytest

from llmservice.catalog.loader import load_catalogue
from tests.unit.planning.planned import HUB, facts_of, planned, refused

SHARING = ["nvidia.com/gpu.sharing-strategy", "cloud.google.com/gke-gpu-sharing-strategy"]
SLICING = ["nvidia.com/gpu.slices.gi", "cloud.google.com/gke-gpu-partition-size"]
CPU: dict[str, Any] = {"spec__engine": "vllm", "spec__model__uri": "hf://acme/chat-7B"}


def terms(gpu: dict[str, Any], **changes: Any) -> list[dict[str, Any]]:
    found = planned(**{**HUB, "spec__gpu": gpu, **changes}).pod.node_terms
    return [{part["key"]: part for part in term["matchExpressions"]} for term in found]


def machine(**changes: Any) -> list[str]:
    (term,) = planned(**{**CPU, **changes}).pod.node_terms or ({"matchExpressions": []},)
    return [value for part in term["matchExpressions"] for value in part["values"]]


@pytest.mark.parametrize("gpu", ["L4", "A100-40GB", "H100"])
def test_a_service_that_did_not_ask_for_it_stays_off_divided_devices(gpu: str) -> None:
    found = terms({"type": gpu})
    assert len(found) > 2
    assert [term for term in found if not {*SHARING, *SLICING} <= set(term)] == []
    assert not any("-SHARED" in value for term in found for part in term.values() for value in part.get("values", ()))
    assert found[0][SHARING[0]] == {"key": SHARING[0], "operator": "NotIn", "values": ["time-slicing", "mps"]}


def test_a_service_that_admits_shared_devices_gets_both_and_no_slices() -> None:
    found = terms({"type": "L4", "shared": True})
    assert found[0]["nvidia.com/gpu.product"]["values"] == ["NVIDIA-L4", "NVIDIA-L4-SHARED"]
    assert [term for term in found if set(SHARING) & set(term)] == []
    assert [term for term in found if not set(SLICING) <= set(term)] == []


def test_a_device_known_by_its_resource_stays_off_shared_ones_and_takes_a_slice_by_that_name() -> None:
    (term,) = terms({"resourceName": "nvidia.com/gpu"})
    assert set(term) == set(SHARING)


@pytest.mark.parametrize("gpu", [{"resourceName": "nvidia.com/gpu.shared"}, {"type": "L4", "shared": True}])
def test_whoever_asks_for_a_shared_resource_is_not_kept_off_it(gpu: dict[str, Any]) -> None:
    assert [term for term in terms(gpu) if set(SHARING) & set(term)] == []
    assert facts_of(**{**HUB, "spec__gpu": gpu}).accelerator.shared  # type: ignore[union-attr]


def test_what_the_pods_own_node_selector_says_of_a_label_is_not_contradicted() -> None:
    own = {"cloud.google.com/gke-gpu-partition-size": "1g.5gb"}
    found = terms({"type": "A100-40GB"}, spec__pod__nodeSelector=own)
    assert [term for term in found if SLICING[1] in term] == []
    assert [term for term in found if SLICING[0] not in term] == []


def test_devices_of_a_vendor_that_divides_none_are_chosen_as_before() -> None:
    assert terms({"type": "MI300X"})[0].keys() == {"amd.com/gpu.device-id"}


@pytest.mark.parametrize(
    ("resource", "gib"),
    [
        ("nvidia.com/mig-1g.10gb", 9.5),
        ("nvidia.com/mig-1g.10gb.me", 9.5),
        ("nvidia.com/mig-3g.40gb", 39.25),
        ("nvidia.com/mig-9g.999gb", 0.0),
        ("nvidia.com/gpu.shared", 0.0),
        ("nvidia.com/gpu", 0.0),
    ],
)
def test_a_resource_tells_the_memory_of_a_slice_and_of_nothing_else(resource: str, gib: float) -> None:
    device = load_catalogue().device(resource)
    assert device is not None
    assert device.memory_gib == gib
    kept = facts_of(**HUB, spec__gpu={"resourceName": resource}).accelerator
    assert kept is not None
    assert kept.memory_gib == gib


@pytest.mark.parametrize(
    ("resource", "gib"),
    [("nvidia.com/mig-1g.10gb", 9.5), ("nvidia.com/gpu.shared", 0.0), ("nvidia.com/gpu", 79.1)],
)
def test_beside_a_type_it_is_the_memory_of_what_the_pod_asks_for(resource: str, gib: float) -> None:
    kept = facts_of(**HUB, spec__gpu={"type": "H100-SXM", "resourceName": resource}).accelerator
    assert kept is not None
    assert (kept.memory_gib, kept.shared) == (gib, resource.endswith(".shared"))


def test_every_slice_is_smaller_than_its_name() -> None:
    for resource, gib in load_catalogue().slices.items():
        named = float(resource.rpartition(".")[2].removesuffix("gb"))
        assert 0.85 * named < gib < named, resource


@pytest.mark.parametrize(
    "gpu",
    [{"type": "L4", "shared": True, "count": 2}, {"resourceName": "nvidia.com/gpu.shared", "count": 4}],
)
def test_several_shares_are_refused(gpu: dict[str, Any]) -> None:
    error = refused(**HUB, spec__gpu=gpu)
    assert (error.reason, error.field) == ("UnsupportedByDevice", "spec.gpu.count")
    assert str(gpu["count"]) in str(error)
    assert "spec.gpu.shared" in str(error)


def test_an_image_for_some_machines_chooses_their_nodes() -> None:
    assert machine() == ["amd64"]
    assert machine(spec__engine="tgi") == ["amd64"]


def test_an_image_for_many_machines_and_an_own_image_choose_none() -> None:
    assert machine(spec__engine="llamacpp", spec__model__uri="hf://acme/chat-7B-GGUF") == []
    assert machine(spec__engineOptions={"image": "registry.example/vllm:arm64", "version": "0.33.0"}) == []


def test_a_machine_that_the_pod_chooses_itself_is_left_to_it() -> None:
    assert machine(spec__pod__nodeSelector={"kubernetes.io/arch": "amd64"}) == []


def test_the_machine_stands_in_each_term_of_a_device() -> None:
    found = terms({"type": "L4"}, spec__engine="tgi", spec__model__uri="hf://acme/chat-7B")
    assert [term["kubernetes.io/arch"]["values"] for term in found] == [["amd64"]] * len(found)


@pytest.mark.parametrize(("gpu", "ids"), [("MI300X", ["74a1", "74b5"]), ("MI325X", ["74a5", "74b9"])])
def test_a_device_is_found_as_a_virtual_function_too(gpu: str, ids: list[str]) -> None:
    found = terms({"type": gpu})
    assert [term["amd.com/gpu.device-id"]["values"] for term in found if "amd.com/gpu.device-id" in term] == [ids]
