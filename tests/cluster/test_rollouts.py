"""Rollouts by free devices on a real scheduler: no gap where one is free, one start where none is, and no deadlock."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from sandbox import Sandbox
from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.polling import polled
from tests.cluster.services import address_of, event_reasons, on_gpu

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]


@pytest.fixture
def gpus(box: Sandbox, cluster: Kube) -> Iterator[Sandbox]:
    """The node's devices, of which no pod of another test holds one."""

    def held() -> list[str]:
        pods = [pod for pod in cluster.list("Pod") if pod["status"]["phase"] not in {"Succeeded", "Failed"}]
        return [pod["metadata"]["name"] for pod in pods if "nvidia.com/gpu" in str(pod["spec"]["containers"])]

    cluster.wait(lambda: not held() or None, held)
    yield box
    box.set_gpus(4)


def pod_of(kube: Kube) -> Body:
    """The one pod that is not being deleted."""
    (pod,) = [pod for pod in kube.list("Pod", "llmservice.dev/name=chat") if "deletionTimestamp" not in pod["metadata"]]
    return pod


def told(kube: Kube) -> str:
    """The message of the last Event about a rollout."""
    events = [item for item in kube.list("Event") if item["reason"] == "RolloutPlan"]
    return str(max(events, key=lambda item: item["metadata"]["name"])["message"])


def ready_since(pod: Body) -> datetime:
    return datetime.fromisoformat(condition_of(pod, "Ready")["lastTransitionTime"])


def edit(kube: Kube, **spec: object) -> None:
    """A change that gives the replica another template, and the wait until it has reached it."""
    kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3, **spec}})
    kube.wait_ready("chat")


@pytest.mark.usefixtures("models")
def test_with_one_gpu_an_edit_finishes_in_place_and_the_gap_is_one_start(kube: Kube, gpus: Sandbox) -> None:
    gpus.set_gpus(1)
    kube.create(on_gpu())
    kube.wait_ready("chat")
    before = pod_of(kube)
    with polled(address_of(kube)) as answers:
        edit(kube)
    after = pod_of(kube)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    ((down, up),) = answers.outages
    created = datetime.fromisoformat(after["metadata"]["creationTimestamp"])
    assert (down - created).total_seconds() > -1.5  # times of Kubernetes have whole seconds
    assert (up - ready_since(after)).total_seconds() < 5
    assert event_reasons(kube).count("RolloutPlan") == 1
    assert "in place" in told(kube)


@pytest.mark.usefixtures("models")
def test_with_two_gpus_an_edit_has_no_gap(kube: Kube, gpus: Sandbox) -> None:
    gpus.set_gpus(2)
    kube.create(on_gpu())
    kube.wait_ready("chat")
    with polled(address_of(kube)) as answers:
        edit(kube)
    assert answers.asked > 20
    assert answers.outages == []
    assert "1 of 2 L4" in told(kube)


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_a_replica_that_the_scheduler_places_nowhere_takes_the_place_of_the_old_one(kube: Kube, gpus: Sandbox) -> None:
    gpus.set_gpus(2)
    node = next(item for item in kube.request("GET", "/api/v1/nodes")["items"])
    millicores = f"{int(float(node['status']['allocatable']['cpu']) * 600)}m"  # two replicas do not fit
    kube.create(on_gpu(pod={"resources": {"requests": {"cpu": millicores, "memory": "128Mi"}}}))
    kube.wait_ready("chat")
    edit(kube)
    assert event_reasons(kube).count("RolloutPlan") == 2
    assert "in place" in told(kube)


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_a_quota_that_admits_one_gpu_is_not_waited_for(kube: Kube, gpus: Sandbox) -> None:
    gpus.set_gpus(2)
    hard = {"hard": {"requests.nvidia.com/gpu": "1"}}
    kube.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus"}, "spec": hard})
    kube.create(on_gpu())
    kube.wait_ready("chat")
    edit(kube)
    assert event_reasons(kube).count("RolloutPlan") == 2
    assert "quota" in told(kube)


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_without_downtime_a_change_waits_for_a_gpu(kube: Kube, gpus: Sandbox) -> None:
    gpus.set_gpus(1)
    kube.create(on_gpu(rollout={"allowDowntime": False}))
    kube.wait_ready("chat")
    with polled(address_of(kube)) as answers:
        kube.patch("LLMService", "chat", {"spec": {"maxNumSeqs": 3}})
        kube.wait_reason("chat", "RolloutBlocked", kind="Reconciling")
        body = kube.get("LLMService", "chat")
        assert condition_of(body, "Ready")["status"] == "True"
        assert "1 more nvidia.com/gpu" in condition_of(body, "Reconciling")["message"]
        gpus.set_gpus(2)
        kube.wait(
            lambda: condition_of(kube.get("LLMService", "chat"), "Reconciling").get("reason") != "RolloutBlocked",
            lambda: kube.get("LLMService", "chat"),
        )
        kube.wait_ready("chat")
    assert answers.outages == []
