"""The autoscaler on a real cluster: real requests, real controllers beside it, and who owns the number afterwards.

Pods that fit no node do where only the number matters.
"""

import pytest

from llmservice.converging.scaled_pods import DELETION_COST_ANNOTATION
from llmservice.objects.names import AUTOSCALER, OPERATOR
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, address_of, ask
from tests.load.in_flight import InFlight

pytestmark = pytest.mark.cluster

NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}
ONE_EACH = {"policy": "Threshold", "targets": {"runningRequests": 1}}


def deployment(kube: Kube) -> Body:
    found = kube.get("Deployment", "chat")
    assert found is not None
    return found


def owners(kube: Kube) -> set[str]:
    """Who owns the Deployment's replicas; nobody before there is one."""
    found = kube.get("Deployment", "chat")
    entries = found["metadata"]["managedFields"] if found else ()
    return {entry["manager"] for entry in entries if "f:replicas" in entry["fieldsV1"].get("f:spec", {})}


def wait_replicas(kube: Kube, replicas: int, seconds: float = 60) -> None:
    """Until so many are asked for."""
    kube.wait(
        lambda: True if deployment(kube)["spec"]["replicas"] == replicas else None,
        lambda: (deployment(kube)["spec"]["replicas"], (kube.get("LLMService", "chat") or {}).get("status")),
        seconds,
    )


def ready_replicas(kube: Kube) -> int:
    body = kube.get("LLMService", "chat") or {}
    return int(body.get("status", {}).get("readyReplicas", 0))


def seen(kube: Kube, load: InFlight) -> Body:
    """The load as it was sent, and what the operator made of it."""
    body = kube.get("LLMService", "chat") or {}
    return {"load": load.measured(), "status": body.get("status")}


def events(kube: Kube, reason: str) -> list[Body]:
    return [item for item in kube.list("Event") if item["reason"] == reason]


def an_hpa(target: str, api_version: str) -> Body:
    """An HPA that has no metrics: all it does is to keep two replicas."""
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "chat"},
        "spec": {
            "scaleTargetRef": {"apiVersion": api_version, "kind": target, "name": "chat"},
            "minReplicas": 2,
            "maxReplicas": 4,
        },
    }


@pytest.mark.usefixtures("models")
def test_requests_bring_replicas_and_a_bound_takes_the_idlest_away(kube: Kube) -> None:
    kube.create(a_tiny_service(autoscaling={"maxReplicas": 2, **ONE_EACH}))
    kube.wait_ready("chat")
    ask(kube)  # a fresh Service refuses until kube-proxy has written its rules
    with InFlight(address_of(kube), 3, max_tokens=96, prompt="hello") as load:
        kube.wait(lambda: deployment(kube)["spec"]["replicas"] == 2, lambda: seen(kube, load))
        kube.wait(lambda: ready_replicas(kube) == 2, lambda: seen(kube, load))
    assert load.failed == []
    (event,) = events(kube, "ScaledUp")
    status = (kube.get("LLMService", "chat") or {})["status"]
    assert event["message"] == status["autoscaling"]["message"]
    assert event["message"].startswith("1 → 2: running ")
    assert kube.condition("chat", "ScalingActive")["status"] == "True"
    assert kube.condition("chat", "MetricsAvailable")["status"] == "True"

    kube.patch("LLMService", "chat", {"spec": {"autoscaling": {"maxReplicas": 1}}})
    marked = kube.wait(lambda: [pod for pod in kube.list("Pod") if _cost(pod) < 0] or None, lambda: kube.list("Pod"))
    wait_replicas(kube, 1)
    kube.wait(lambda: True if len(kube.list("Pod")) == 1 else None, lambda: kube.list("Pod"))
    assert [pod["metadata"]["name"] for pod in kube.list("Pod")] != [pod["metadata"]["name"] for pod in marked]
    assert len(events(kube, "ScaledDown")) == 1


def _cost(pod: Body) -> int:
    return int(pod["metadata"].get("annotations", {}).get(DELETION_COST_ANNOTATION, 0))


def test_the_number_is_taken_over_and_the_operator_lets_go_of_it(kube: Kube) -> None:
    kube.create(a_tiny_service(autoscaling={"minReplicas": 2, "maxReplicas": 4}, pod=NOWHERE))
    kube.wait(lambda: AUTOSCALER in owners(kube) or None, lambda: kube.list("Deployment"))
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3}})
    kube.wait(lambda: True if owners(kube) == {AUTOSCALER} else None, lambda: owners(kube))
    assert deployment(kube)["spec"]["replicas"] == 2


@pytest.mark.slow
def test_who_else_sets_the_number_is_overruled_and_told(kube: Kube) -> None:
    kube.create(a_tiny_service(autoscaling={"minReplicas": 1, "maxReplicas": 3}, pod=NOWHERE))
    kube.wait(lambda: AUTOSCALER in owners(kube) or None, lambda: owners(kube))
    kube.kubectl("scale", "deployment", "chat", "--replicas=5")
    wait_replicas(kube, 3)
    (event,) = kube.wait(lambda: events(kube, "Overruled") or None, lambda: kube.list("Event"))
    assert event["type"] == "Warning"
    assert "kubectl set 5 replicas" in event["message"]


@pytest.mark.slow
def test_advise_beside_an_hpa_on_the_deployment(kube: Kube) -> None:
    kube.create(a_tiny_service(autoscaling={"maxReplicas": 4, "mode": "Advise"}, pod=NOWHERE))
    advised(kube)
    kube.create(an_hpa("Deployment", "apps/v1"))
    wait_replicas(kube, 2)
    stays_with(kube, 2, "kube-controller-manager")


@pytest.mark.slow
def test_advise_beside_an_hpa_on_the_llmservice(kube: Kube) -> None:
    kube.create(a_tiny_service(replicas=1, autoscaling={"maxReplicas": 4, "mode": "Advise"}, pod=NOWHERE))
    advised(kube)
    kube.create(an_hpa("LLMService", "llmservice.dev/v1alpha1"))
    wait_replicas(kube, 2)
    stays_with(kube, 2, OPERATOR)


def advised(kube: Kube) -> None:
    """Until the autoscaler has looked."""
    kube.wait_reason("chat", "AdviseOnly", kind="ScalingActive")


def stays_with(kube: Kube, replicas: int, owner: str) -> None:
    """After another look of the autoscaler, which has other advice, the number is still what its owner made it."""
    kube.patch("LLMService", "chat", {"spec": {"autoscaling": {"minReplicas": 3}}})
    kube.wait(lambda: _advice(kube) == 3 or None, lambda: kube.get("LLMService", "chat"))
    assert deployment(kube)["spec"]["replicas"] == replicas
    assert owners(kube) - {OPERATOR} | {owner} == {owner}
    assert AUTOSCALER not in owners(kube)


def _advice(kube: Kube) -> int:
    advice: int = (kube.get("LLMService", "chat") or {})["status"]["autoscaling"]["advisedReplicas"]
    return advice
