"""Look-ups: exact names, and what a miss says."""

import pytest

from llmservice.catalog.catalogue import Catalogue, nearest
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import InvalidSpec


@pytest.fixture
def catalogue() -> Catalogue:
    return load_catalogue()


def test_a_version_that_is_left_out_is_the_default(catalogue: Catalogue) -> None:
    assert catalogue.engine_version("llamacpp", None) == catalogue.engine_version("llamacpp", "b11312")


def test_an_unknown_version_names_those_there_are(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidSpec) as caught:
        catalogue.engine_version("llamacpp", "b1")
    assert (caught.value.reason, caught.value.field) == ("UnknownVersion", "spec.engineOptions.version")
    assert "b11312" in str(caught.value)


@pytest.mark.parametrize(("name", "row"), [("L4", "L4"), ("L4-24GB", "L4"), ("3090", "RTX-3090"), ("H200", "H200")])
def test_names_aliases_and_groups_find_their_row(catalogue: Catalogue, name: str, row: str) -> None:
    assert catalogue.accelerator(name).name == row


@pytest.mark.parametrize(("name", "hint"), [("l4", "L4"), ("H100SXM", "H100-SXM"), ("mi300x", "MI300X")])
def test_an_unknown_accelerator_names_similar_rows_and_the_field_to_set(
    catalogue: Catalogue, name: str, hint: str
) -> None:
    with pytest.raises(InvalidSpec) as caught:
        catalogue.accelerator(name)
    assert caught.value.reason == "UnknownAccelerator"
    assert f": {hint}" in str(caught.value)
    assert "spec.gpu.resourceName" in str(caught.value)


def test_a_name_for_different_amounts_of_memory_is_refused_with_the_exact_choices(catalogue: Catalogue) -> None:
    with pytest.raises(InvalidSpec, match="A100-40GB, A100-80GB") as caught:
        catalogue.accelerator("A100")
    assert caught.value.reason == "AmbiguousAccelerator"


def test_each_exact_choice_of_an_ambiguous_name_is_a_row(catalogue: Catalogue) -> None:
    choices = [choice for names in catalogue.ambiguous.values() for choice in names]
    assert [name for name in choices if name not in catalogue.accelerators] == []


@pytest.mark.parametrize(
    ("resource", "vendor"), [("nvidia.com/mig-1g.10gb", "nvidia"), ("amd.com/gpu", "amd"), ("acme.example/npu", None)]
)
def test_a_device_is_known_by_the_domain_of_its_resource(
    catalogue: Catalogue, resource: str, vendor: str | None
) -> None:
    device = catalogue.device(resource)
    assert (device.vendor if device else None) == vendor


def test_the_nearest_names_come_best_first() -> None:
    assert nearest("llamacp", ["vllm", "llamacpp", "tgi"]) == ["llamacpp", "vllm"]


@pytest.mark.parametrize(
    ("keys", "platform"),
    [
        ({"karpenter.k8s.aws/instance-family", "nvidia.com/gpu.product"}, "eks-karpenter"),
        ({"eks.amazonaws.com/instance-family"}, "eks-auto"),
        ({"eks.amazonaws.com/nodegroup", "nvidia.com/gpu.product"}, "feature-discovery"),
        ({"karpenter.azure.com/sku-name"}, "aks-karpenter"),
        ({"cloud.google.com/gke-nodepool"}, "gke"),
        ({"amd.com/gpu.device-id"}, "amd-labeller"),
        ({"node.kubernetes.io/instance-type", "kubernetes.io/os"}, ""),
        (set(), ""),
    ],
)
def test_labels_of_nodes_tell_the_platform_autoscalers_first(keys: set[str], platform: str) -> None:
    assert load_catalogue().platform_of(keys) == platform


def test_every_platform_that_is_looked_for_labels_nodes_in_a_way_of_its_own() -> None:
    terms = {term.platform for row in load_catalogue().accelerators.values() for term in row.node_terms}
    assert set(load_catalogue().platforms) - terms == set()
