"""Children that others write, on a real API server: what is taken back, what is waited for, who is named."""

import json
import time
from typing import Any

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, ask

pytestmark = pytest.mark.cluster

_FOUGHT_SECONDS = 20.0
"""Three repairs are made within moments; the next one is due 30 s after the last."""

NOWHERE = {"nodeSelector": {"llmservice.dev/nowhere": "yes"}}
"""The pods fit no node: what is asked for is enough to judge."""


def child(kube: Kube, kind: str, name: str = "chat") -> Body:
    return kube.wait(lambda: kube.get(kind, name), lambda: kube.get("LLMService", name))


def told(kube: Kube) -> None:
    """Wait until the operator has said something: what it makes is made by then."""
    kube.wait(
        lambda: kube.condition("chat", "Ready") or None,
        lambda: kube.get("LLMService", "chat"),
    )


EXTRA_KEY = {"canary": "yes"}
BREAKS_SERVING: dict[str, tuple[str, Body]] = {
    "a key of the Service's selector": ("Service", {"selector": EXTRA_KEY}),
    "a node port": ("Service", {"type": "NodePort"}),
    "a load balancer": ("Service", {"type": "LoadBalancer"}),
    "another name in place of the pods": ("Service", {"type": "ExternalName", "externalName": "elsewhere.example"}),
    "pods that are not ready": ("Service", {"publishNotReadyAddresses": True}),
    "a paused rollout": ("Deployment", {"paused": True}),
    "a key of the budget's selector": ("PodDisruptionBudget", {"selector": {"matchLabels": EXTRA_KEY}}),
    "a key of the policy's selector": ("NetworkPolicy", {"podSelector": {"matchLabels": EXTRA_KEY}}),
}


@pytest.mark.parametrize("addition", BREAKS_SERVING)
def test_an_addition_that_breaks_serving_is_taken_back(kube: Kube, addition: str) -> None:
    kind, change = BREAKS_SERVING[addition]
    kube.create(a_tiny_service(replicas=2, networkPolicy={"ingressFrom": []}, pod=NOWHERE))
    told(kube)
    before, template = child(kube, kind)["spec"], child(kube, "Deployment")["spec"]["template"]
    kube.patch(kind, "chat", {"spec": change})
    fields = ("selector", "podSelector", "type", "publishNotReadyAddresses", "paused")

    def is_back() -> bool:
        live = child(kube, kind)["spec"]
        return all(live.get(field) == before.get(field) for field in fields)

    kube.wait(is_back, lambda: kube.get(kind, "chat"), seconds=5)
    assert child(kube, "Deployment")["spec"]["template"] == template


def test_a_service_whose_selector_was_changed_serves_again(kube: Kube, models: str) -> None:  # noqa: ARG001
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    assert ask(kube)["choices"]
    kube.patch("Service", "chat", {"spec": {"selector": EXTRA_KEY}})
    selector = {"llmservice.dev/name": "chat"}
    kube.wait(
        lambda: child(kube, "Service")["spec"]["selector"] == selector, lambda: kube.get("Service", "chat"), seconds=5
    )
    assert ask(kube)["choices"]


def test_what_others_add_to_our_objects_is_reported(kube: Kube) -> None:
    kube.create(a_tiny_service(pod=NOWHERE))
    told(kube)
    port = {"name": "x", "port": 9}
    kube.patch("Service", "chat", [{"op": "add", "path": "/spec/ports/-", "value": port}], how="json")
    sidecar = {"name": "proxy", "image": "registry.test/proxy:1"}
    path = "/spec/template/spec/containers/-"
    kube.patch("Deployment", "chat", [{"op": "add", "path": path, "value": sidecar}], how="json")

    def both() -> str | None:
        message = str(kube.condition("chat", "ChildrenModified").get("message", ""))
        return message if "container proxy" in message and "port 9" in message else None

    kube.wait(both, lambda: kube.get("LLMService", "chat"))
    assert kube.condition("chat", "ChildrenModified")["reason"] == "ForeignAddition"


@pytest.mark.slow
def test_a_writer_that_changes_a_child_after_every_write_meets_the_back_off_and_is_named(kube: Kube) -> None:
    kube.create(a_tiny_service(pod=NOWHERE))
    told(kube)
    ours = child(kube, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    theirs, repairs, until = "registry.test/theirs:1", 0, time.monotonic() + _FOUGHT_SECONDS
    change = {"spec": {"template": {"spec": {"containers": [{"name": "engine", "image": theirs}]}}}}
    while time.monotonic() < until:
        if child(kube, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] == ours:
            repairs += 1
            kube.patch("Deployment", "chat", _intent(change), manager="rollouts-controller", how="apply")
        time.sleep(0.02)
    condition = kube.condition("chat", "ChildrenModified")
    assert repairs == 4, "the first one is no repair, and the fifth is not due"
    assert condition["reason"] == "Contested"
    assert "rollouts-controller" in condition["message"]
    assert "spec.template.spec.containers[engine].image" in condition["message"]


def _intent(change: Body) -> Body:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat"}, **change}


def test_ones_own_orphans_are_named_and_can_be_kept(kube: Kube, models: str) -> None:  # noqa: ARG001
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    pods = {pod["metadata"]["uid"] for pod in kube.list("Pod")}
    kube.kubectl("delete", "llmservice", "chat", "--cascade=orphan")
    made = kube.create(a_tiny_service())
    message = str(kube.wait_reason("chat", "NameConflict", "Stalled")["message"])
    assert f"kubectl -n {kube.namespace} delete deployment/chat service/chat" in message
    owner = {
        "apiVersion": made["apiVersion"],
        "kind": "LLMService",
        "name": "chat",
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    for kind in ("deployment", "service"):
        patch = json.dumps({"metadata": {"ownerReferences": [owner]}})
        kube.kubectl("patch", kind, "chat", "--type=merge", f"--patch={patch}")
    kube.wait_ready("chat")
    assert {pod["metadata"]["uid"] for pod in kube.list("Pod")} == pods


def test_a_deleted_predecessors_child_is_waited_for(kube: Kube) -> None:
    kube.create(a_tiny_service(pod=NOWHERE))
    told(kube)
    old = child(kube, "Service")["metadata"]["uid"]
    kube.patch("Service", "chat", {"metadata": {"finalizers": ["test.example/slow"]}})
    kube.kubectl("delete", "llmservice", "chat", "--wait=false")
    kube.wait(lambda: kube.get("LLMService", "chat") is None, lambda: kube.get("LLMService", "chat"))
    kube.create(a_tiny_service(pod=NOWHERE))
    assert "Service chat" in kube.wait_reason("chat", "NameConflict", "Reconciling")["message"]
    assert kube.condition("chat", "Stalled") == {}
    kube.patch("Service", "chat", {"metadata": {"finalizers": None}})
    found = kube.wait(lambda: kube.get("Deployment", "chat"), lambda: kube.get("LLMService", "chat"))
    assert found["metadata"]["ownerReferences"][0]["uid"] == child(kube, "LLMService")["metadata"]["uid"]
    assert child(kube, "Service")["metadata"]["uid"] != old


def test_a_status_that_somebody_else_writes_is_corrected(kube: Kube) -> None:
    kube.create(a_tiny_service(suspend=True))
    kube.wait_ready("chat", reason="Suspended")
    forged: dict[str, Any] = {"readyReplicas": 99, "url": "http://elsewhere.example"}
    kube.patch("LLMService", "chat", {"status": forged}, sub="status")

    def is_corrected() -> bool:
        status = child(kube, "LLMService")["status"]
        return status["readyReplicas"] == 0 and "elsewhere" not in status["url"]

    kube.wait(is_corrected, lambda: kube.get("LLMService", "chat"), seconds=5)
