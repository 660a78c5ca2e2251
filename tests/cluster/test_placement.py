"""The examples find the right node on every platform, by the labels and taints that platform sets.

Label values are those of the platforms' own documents (see the head of accelerators.yaml), written out here: a wrong
row in the catalogue must not make its own test pass. Beside each node stands one that differs in the model alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from sandbox.settings import NODE
from tests.cluster.conftest import ROOT
from tests.cluster.fake_nodes import FakeNode, cordoned, standing
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

GPU = "nvidia.com/gpu"
PRESENT = {"key": GPU, "value": "present", "effect": "NoSchedule"}
"""GKE's own taint, and the usual one of EKS node pools."""
SKU = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
"""The taint that AKS' documents tell to set."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """An example, the node it must get, and what is different about the node it must not get.

    `gpu_type` takes the place of the example's own; `shared` lets it take a part of a device.
    """

    example: str
    labels: Mapping[str, str]
    other: Mapping[str, str]
    taint: Mapping[str, str] = field(default_factory=lambda: PRESENT)
    gpu_type: str = ""
    shared: bool = False

    @property
    def nodes(self) -> tuple[FakeNode, FakeNode]:
        """The right node and the wrong one."""
        devices, taints = {GPU: "8"}, (self.taint,)
        right = FakeNode(labels=self.labels, devices=devices, taints=taints)
        return right, FakeNode(labels={**self.labels, **self.other}, devices=devices, taints=taints)


CASES = {
    "gke-l4": Case(
        example="vllm-awq",
        labels={"cloud.google.com/gke-accelerator": "nvidia-l4"},
        other={"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"},
    ),
    "gke-t4": Case(
        example="vllm-gptq-t4",
        labels={"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"},
        other={"cloud.google.com/gke-accelerator": "nvidia-l4"},
    ),
    "gke-h100": Case(
        example="vllm-private-two-gpus",
        labels={"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"},
        other={"cloud.google.com/gke-accelerator": "nvidia-h200-141gb"},
    ),
    "eks-karpenter-a10g": Case(
        example="tgi-awq",
        labels={"karpenter.k8s.aws/instance-gpu-name": "a10g"},
        other={"karpenter.k8s.aws/instance-gpu-name": "l4"},
    ),
    "eks-karpenter-l4": Case(
        example="tgi-online-int8-two-gpus",
        labels={"karpenter.k8s.aws/instance-gpu-name": "l4"},
        other={"karpenter.k8s.aws/instance-gpu-name": "l40s"},
    ),
    "eks-karpenter-a100-by-its-memory": Case(
        example="vllm-awq",
        gpu_type="A100-80GB",
        labels={"karpenter.k8s.aws/instance-gpu-name": "a100", "karpenter.k8s.aws/instance-gpu-memory": "81920"},
        other={"karpenter.k8s.aws/instance-gpu-memory": "40960"},
    ),
    "eks-auto-l40s": Case(
        example="vllm-online-fp8",
        labels={"eks.amazonaws.com/instance-gpu-name": "l40s"},
        other={"eks.amazonaws.com/instance-gpu-name": "l4"},
    ),
    "eks-node-group-h100": Case(
        example="vllm-private-two-gpus",
        labels={"node.kubernetes.io/instance-type": "p5.48xlarge"},
        other={"node.kubernetes.io/instance-type": "p4d.24xlarge"},
    ),
    "aks-t4": Case(
        example="vllm-gptq-t4",
        labels={
            "kubernetes.azure.com/accelerator": "nvidia",
            "node.kubernetes.io/instance-type": "Standard_NC16as_T4_v3",
        },
        other={"node.kubernetes.io/instance-type": "Standard_NC24ads_A100_v4"},
        taint=SKU,
    ),
    "aks-karpenter-t4": Case(
        example="vllm-gptq-t4",
        labels={"karpenter.azure.com/sku-gpu-name": "T4"},
        other={"karpenter.azure.com/sku-gpu-name": "A10"},
        taint=SKU,
    ),
    "feature-discovery-a10g": Case(
        example="vllm-older-version",
        labels={"nvidia.com/gpu.product": "NVIDIA-A10G"},
        other={"nvidia.com/gpu.product": "NVIDIA-A10"},
    ),
    "feature-discovery-shared-l4": Case(
        example="llamacpp-hf",
        shared=True,
        labels={"nvidia.com/gpu.product": "NVIDIA-L4-SHARED"},
        other={"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED"},
    ),
    "feature-discovery-whole-l4": Case(
        example="llamacpp-hf",
        labels={"nvidia.com/gpu.product": "NVIDIA-L4"},
        other={"nvidia.com/gpu.product": "NVIDIA-L4-SHARED", "nvidia.com/gpu.sharing-strategy": "time-slicing"},
    ),
}


@pytest.fixture(autouse=True)
def _only_fake_nodes(cluster: Kube, operator: Operator) -> Iterator[None]:  # noqa: ARG001  (the operator must run)
    """The sandbox's own node has an L4, too."""
    with cordoned(cluster, NODE):
        yield


@pytest.mark.parametrize("name", CASES)
def test_an_example_gets_the_node_its_platform_labels_so(kube: Kube, name: str) -> None:
    case = CASES[name]
    right, wrong = case.nodes
    with standing(kube, wrong, right):
        body = example(case.example)
        body["spec"]["gpu"] |= {"type": case.gpu_type or body["spec"]["gpu"]["type"], "shared": case.shared}
        kube.create(body)
        assert node_of_the_pod(kube) == right.name


@pytest.mark.usefixtures("models")
def test_a_slice_by_its_resource_needs_no_label(kube: Kube) -> None:
    sliced = FakeNode(labels={}, devices={"nvidia.com/mig-3g.40gb": "2"}, taints=(PRESENT,))
    with standing(kube, FakeNode(labels={}, devices={GPU: "8"}), sliced):
        kube.create(example("vllm-claim-mig"))
        assert node_of_the_pod(kube) == sliced.name


def test_an_untolerated_taint_keeps_the_pod_away_and_says_so(kube: Kube) -> None:
    right, _ = CASES["gke-l4"].nodes
    reserved = FakeNode(labels=right.labels, devices=right.devices, taints=({"key": "team", "effect": "NoSchedule"},))
    with standing(kube, reserved):
        kube.create(example("vllm-awq"))
        message = kube.wait_reason("qwen-awq", "Unschedulable")["message"]
    assert "taint" in message
    assert "spec.pod.tolerations" in message


def example(name: str) -> Body:
    """One of the shipped examples."""
    body: Body = yaml.safe_load(Path(ROOT / "manifests" / "examples" / f"{name}.yaml").read_text())
    return body


def node_of_the_pod(kube: Kube) -> str:
    """Where the scheduler put the only pod."""

    def bound() -> str | None:
        names = [pod["spec"].get("nodeName") for pod in kube.list("Pod")]
        return names[0] if len(names) == 1 and names[0] else None

    return kube.wait(bound, lambda: [pod.get("status") for pod in kube.list("Pod")])
