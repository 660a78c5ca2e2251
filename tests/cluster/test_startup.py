"""Starts on a real kubelet, with real llama.cpp: their phases add up to what somebody who watches sees."""

import time
from collections.abc import Iterator

import pytest

from llmservice.objects.starts import phases_in
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, on_gpu, start_events

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.usefixtures("models")]

LABEL = "llmservice.dev/startup-test"
HELD_SECONDS = 25.0


@pytest.fixture
def node(kube: Kube) -> Iterator[str]:
    """The node on which pods run, without the label afterwards."""
    name = kube.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    yield name
    kube.kubectl("label", "node", name, f"{LABEL}-")


def last_start(kube: Kube, not_by: str = "") -> Body:
    """`status.startup.last` of another revision than that, waited for."""

    def told() -> Body | None:
        last = _startup(kube).get("last")
        return last if last and last["revision"] != not_by else None

    return kube.wait(told, lambda: _startup(kube))


def _startup(kube: Kube) -> Body:
    found: Body = (kube.get("LLMService", "chat") or {}).get("status", {}).get("startup", {})
    return found


def pod_of(kube: Kube) -> Body | None:
    pods = kube.list("Pod", "llmservice.dev/name=chat")
    return pods[0] if pods else None


def is_ready(pod: Body | None) -> bool:
    conditions = (pod or {}).get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def seen_after(kube: Kube, what: str) -> float:
    """When a client that looks ten times a second sees the pod, or sees it ready."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        pod = pod_of(kube)
        if is_ready(pod) if what == "ready" else pod:
            return time.monotonic()
        time.sleep(0.1)
    raise AssertionError(pod_of(kube))


def seconds(start: Body) -> list[int]:
    return [*phases_in(start).values()]


def test_phases_add_up_to_what_a_client_sees_within_five_percent(kube: Kube, node: str) -> None:
    few = {"requests": {"cpu": "20m", "memory": "128Mi"}}
    kube.create(a_tiny_service(pod={"resources": few, "nodeSelector": {LABEL: "yes"}}))
    began = seen_after(kube, "there")
    time.sleep(HELD_SECONDS)
    kube.kubectl("label", "node", node, f"{LABEL}=yes")
    observed = seen_after(kube, "ready") - began
    start = last_start(kube)
    assert sum(seconds(start)) == start["totalSeconds"]
    assert start["totalSeconds"] == pytest.approx(observed, rel=0.05)
    assert start["scheduledSeconds"] == pytest.approx(HELD_SECONDS, abs=2)
    assert {"imageSeconds", "loadSeconds", "warmUpSeconds"} <= start.keys()
    kube.wait(lambda: "Started" in start_events(kube) or None, lambda: start_events(kube))
    assert start_events(kube)[-1] == "Started"


@pytest.mark.slow
def test_a_rollout_is_told_once_and_what_is_added_later_is_not(kube: Kube) -> None:
    kube.create(on_gpu())
    first = last_start(kube)
    told = start_events(kube)
    assert len(told) == len(set(told))
    kube.patch("LLMService", "chat", {"spec": {"replicas": 3}})
    kube.wait_ready("chat")
    assert start_events(kube) == told
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3}})
    second = last_start(kube, not_by=first["revision"])
    assert (second["revision"], sum(seconds(second))) != (first["revision"], 0)
    kube.wait(lambda: start_events(kube).count("Started") == 2 or None, lambda: start_events(kube))


@pytest.mark.slow
def test_what_is_learned_restarts_nothing(kube: Kube) -> None:
    kube.create(a_tiny_service())
    start = last_start(kube)
    kube.wait_ready("chat")
    pod, deployment = pod_of(kube), kube.get("Deployment", "chat")
    assert pod is not None
    assert deployment is not None
    assert _startup(kube)["slowestSeconds"] <= start["totalSeconds"]
    slower = {"status": {"startup": {**_startup(kube), "slowestSeconds": 5000}}}
    kube.patch("LLMService", "chat", slower, sub="status")
    kube.patch("LLMService", "chat", {"metadata": {"annotations": {"example.com/touched": "yes"}}})
    kube.patch("LLMService", "chat", {"spec": {"replicas": 2}})
    kube.wait_ready("chat")
    uids = {each["metadata"]["uid"] for each in kube.list("Pod", "llmservice.dev/name=chat")}
    assert pod["metadata"]["uid"] in uids
