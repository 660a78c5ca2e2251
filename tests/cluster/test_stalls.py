"""Real engines that hang: llama.cpp whose computing thread stands still while its HTTP threads answer, and the others.

That is what a device that hangs looks like: probes succeed, metrics are answered, requests run, and no token comes.
"""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from llmservice.converging.node_life import SHIELD
from tests.cluster.engine_process import engine_process, engine_stopped
from tests.cluster.kube import Body, Kube, Rejected, condition_of, item_of
from tests.cluster.services import address_of, ask, on_gpu
from tests.cluster.stopped_thread import stopped
from tests.load.in_flight import InFlight

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

LOAD: Mapping[str, Any] = {"max_tokens": 400, "prompt": "hello"}


def pods(kube: Kube) -> dict[str, Body]:
    """The pods that are not being deleted, by UID."""
    found = kube.list("Pod", "llmservice.dev/name=chat")
    return {pod["metadata"]["uid"]: pod for pod in found if "deletionTimestamp" not in pod["metadata"]}


def told(kube: Kube) -> list[str]:
    return [item["message"] for item in kube.list("Event") if item["reason"] == "EngineStalled"]


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_an_engine_that_hangs_is_restarted_and_its_neighbour_is_not(kube: Kube) -> None:
    time.sleep(2)  # pods of the second in which the operator began to lead may be those of a restart before it
    kube.create(on_gpu(replicas=2))
    kube.wait_ready("chat")
    before = pods(kube)
    hung, *others = sorted(before)
    ask(kube)
    with InFlight(address_of(kube), 8, **LOAD) as load:
        time.sleep(3)  # both compute then, and what the engine reports as running is what it stopped at
        with stopped(engine_process(before[hung])):
            began = time.monotonic()
            kube.wait(lambda: told(kube) or None, lambda: kube.get("LLMService", "chat"), seconds=300)
            noticed = time.monotonic() - began
            condition = kube.condition("chat", "EngineProgressing")
            kube.wait(lambda: hung not in pods(kube) or None, lambda: pods(kube).keys(), seconds=60)
            load.hold(0)
    assert 110 <= noticed <= 260, noticed
    (message,) = told(kube)
    assert before[hung]["metadata"]["name"] in message
    assert (condition.get("status"), condition.get("reason")) == ("False", "EngineStalled")
    kube.wait_reason("chat", "EngineProgressing", "EngineProgressing", seconds=180)
    kube.wait_ready("chat")
    assert set(others) < set(pods(kube))
    assert len(pods(kube)) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_an_engine_that_is_stopped_whole_is_unreadable_and_not_restarted_by_us(kube: Kube) -> None:
    """The kubelet's liveness probe does that, after two and a half minutes."""
    kube.create(on_gpu(replicas=1))
    kube.wait_ready("chat")
    (before,) = pods(kube).values()
    with InFlight(address_of(kube), 2, **LOAD) as load:
        time.sleep(1)
        load.hold(0)
        with engine_stopped(before):
            kube.wait_reason("chat", "EngineUnresponsive", seconds=180)
    assert (told(kube), [*pods(kube)]) == ([], [before["metadata"]["uid"]])


@pytest.mark.usefixtures("models")
def test_a_replica_keeps_its_node_while_it_starts(kube: Kube) -> None:
    seen: list[Mapping[str, str]] = []
    kube.create(on_gpu(replicas=1))

    def is_ready() -> bool | None:
        seen.extend(pod["metadata"].get("annotations") or {} for pod in pods(kube).values())
        ready = kube.condition("chat", "Ready")
        return True if ready.get("status") == "True" else None

    kube.wait(is_ready, lambda: kube.get("LLMService", "chat"), seconds=120)
    assert any(SHIELD.items() <= annotations.items() for annotations in seen)
    kube.wait(
        lambda: all(not SHIELD.keys() & (pod["metadata"].get("annotations") or {}) for pod in pods(kube).values()),
        lambda: pods(kube),
        seconds=20,
    )


@pytest.mark.usefixtures("models")
@pytest.mark.slow
def test_a_node_that_is_emptied_gives_up_one_replica_at_a_time(kube: Kube) -> None:
    """By evictions, as a drain, Karpenter and the cluster autoscaler make them."""
    kube.create(on_gpu(replicas=2))
    kube.wait_ready("chat")
    first, second = (pod["metadata"]["name"] for pod in pods(kube).values())
    evict(kube, first)
    with pytest.raises(Rejected, match="disruption budget"):
        evict(kube, second)
    kube.wait(lambda: is_evicted(kube, second) or None, lambda: pods(kube).keys(), seconds=120)
    kube.wait(
        lambda: {first, second}.isdisjoint(pod["metadata"]["name"] for pod in pods(kube).values()) or None,
        lambda: pods(kube).keys(),
    )
    kube.wait_ready("chat")


def evict(kube: Kube, name: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": kube.namespace}}
    kube.request("POST", item_of("Pod", kube.namespace, name, "eviction"), body)


def is_evicted(kube: Kube, name: str) -> bool:
    """Whether the budget allowed it; the other replica is ready then."""
    try:
        evict(kube, name)
    except Rejected as rejected:
        if rejected.status != 429:
            raise
        return False
    ready = (condition_of(pod, "Ready").get("status") for pod in pods(kube).values())
    assert "True" in ready
    return True
