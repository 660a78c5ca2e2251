"""An administrator's ConfigMap, and labels of nodes, on a real API server."""

from collections.abc import Iterator

import pytest

from llmservice.cluster.own_namespace import USUAL
from llmservice.objects.names import CATALOGUE
from tests.cluster.fake_nodes import FakeNode, standing
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

L5 = "accelerators: [{name: L5, vendor: nvidia, memory_gib: 30, labels: {gfd: [NVIDIA-L5]}}]"


@pytest.fixture
def system(cluster: Kube) -> Iterator[Kube]:
    """Where an operator outside a cluster looks for its ConfigMap; without one before and after."""
    system = cluster.within(USUAL)
    cluster.await_end(USUAL)  # of the tests before, which do not wait
    cluster.kubectl("create", "namespace", USUAL, check=False)
    system.delete("ConfigMap", CATALOGUE)
    yield system
    system.delete("ConfigMap", CATALOGUE)


def overlay(system: Kube, accelerators: str) -> None:
    """What an administrator does with kubectl apply."""
    body: Body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CATALOGUE}}
    data = {"data": {"accelerators.yaml": accelerators}}
    system.patch("ConfigMap", CATALOGUE, {**body, **data}, how="apply")


def on(gpu: str, name: str = "chat") -> Body:
    return a_tiny_service(name, gpu={"type": gpu}, model={"uri": "hf://acme/chat"})


def terms(kube: Kube, name: str = "chat") -> list[str]:
    """The first label of each node selector term of the Deployment."""
    deployment = kube.wait(lambda: kube.get("Deployment", name), lambda: kube.get("LLMService", name))
    affinity = deployment["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [term["matchExpressions"][0]["key"] for term in required]


def test_a_row_heals_what_waits_for_it_and_its_removal_leaves_what_runs(kube: Kube, system: Kube) -> None:
    kube.create(on("L5"))
    kube.wait_reason("chat", "UnknownAccelerator", kind="Stalled")
    overlay(system, L5)
    assert terms(kube) == ["nvidia.com/gpu.product"]
    kube.wait(lambda: not kube.condition("chat", "Stalled"), lambda: kube.get("LLMService", "chat"))
    before = kube.get("Deployment", "chat")
    system.delete("ConfigMap", CATALOGUE)
    kube.create(on("L5", "later"))
    kube.wait_reason("later", "UnknownAccelerator", kind="Stalled")
    after = kube.get("Deployment", "chat")
    assert before is not None
    assert after is not None
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


def test_a_broken_overlay_is_told_by_an_event_and_the_last_good_one_stays(kube: Kube, system: Kube) -> None:
    overlay(system, L5)
    kube.create(on("L5", "first"))
    terms(kube, "first")
    overlay(system, L5.replace("nvidia", "nvidai"))
    message = system.wait(lambda: _warning(system), lambda: system.list("Event"))
    assert message.startswith("accelerators.yaml: L5: ")
    assert "nvidai" in message
    kube.create(on("L5", "second"))
    assert terms(kube, "second") == ["nvidia.com/gpu.product"]


def _warning(system: Kube) -> str | None:
    """The warning about this very ConfigMap."""
    uid = (system.get("ConfigMap", CATALOGUE) or {})["metadata"]["uid"]
    return next((each["message"] for each in system.list("Event") if each["involvedObject"].get("uid") == uid), None)


def test_the_term_of_the_platform_that_nodes_tell_comes_first(kube: Kube, operator: Operator) -> None:
    made_by_karpenter = FakeNode(labels={"karpenter.k8s.aws/instance-family": "m7i"}, devices={})
    operator.stop()
    with standing(kube, made_by_karpenter):
        operator.start()
        kube.create(on("T4"))
        assert terms(kube)[0] == "karpenter.k8s.aws/instance-gpu-name"
