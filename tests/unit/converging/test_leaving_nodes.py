"""Which nodes are going, by what others write on them."""

from typing import Any

import pytest

from llmservice.converging.deletion_cost import costs_to_write
from llmservice.converging.leaving_nodes import why_leaving
from llmservice.converging.scaled_pods import PodPhase, ScaledPod


def a_node(*taints: str, **spec: Any) -> dict[str, Any]:
    return {"spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints], **spec}}


@pytest.mark.parametrize(
    "taint",
    [
        "karpenter.sh/disrupted",
        "ToBeDeletedByClusterAutoscaler",
        "aws-node-termination-handler/spot-itn",
        "cloud.google.com/impending-node-termination",
        "node.kubernetes.io/out-of-service",
    ],
)
def test_a_taint_of_who_empties_nodes(taint: str) -> None:
    assert taint in why_leaving(a_node("team", taint))


def test_a_cordon() -> None:
    assert why_leaving(a_node(unschedulable=True))


@pytest.mark.parametrize(
    "node",
    [
        {},
        a_node(),
        a_node("nvidia.com/gpu"),
        a_node("kubernetes.azure.com/scalesetpriority"),
        a_node("DeletionCandidateOfClusterAutoscaler"),
        a_node("node.kubernetes.io/not-ready"),
    ],
)
def test_other_nodes_stay(node: dict[str, Any]) -> None:
    assert why_leaving(node) == ""


def test_replicas_on_a_node_that_goes_leave_before_idler_ones() -> None:
    pods = [ScaledPod(name=f"p{n}", uid=f"{n}", phase=PodPhase.READY, node=f"node-{n}") for n in range(3)]
    costs = costs_to_write(pods, {"p0": 0.0, "p1": 1.0, "p2": 9.0}, 2, {"node-2"})
    assert {pod.name for pod, cost in costs.items() if cost is not None} == {"p2"}
    idlest = costs_to_write(pods, {"p0": 0.0, "p1": 1.0, "p2": 9.0}, 2)
    assert {pod.name for pod, cost in idlest.items() if cost is not None} == {"p0"}
