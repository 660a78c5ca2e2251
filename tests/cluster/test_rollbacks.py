"""A revision whose engines crash, on a real cluster: traffic never stops, and what served last comes back."""

import http.client
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.operator_process import Operator
from tests.cluster.services import TINY, a_tiny_service, address_of, ask, event_reasons

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ABSENT = {"uri": "pvc://models/absent.gguf"}
BUDGET_SECONDS = 300
"""Two minutes, and four starts with the kubelet's pauses between them."""
QUIET_SECONDS = 5


@contextmanager
def requests_all_the_time(kube: Kube) -> Iterator[Counter[str]]:
    """Three clients that ask again and again, each time over a new connection; counts how the requests ended."""
    outcomes: Counter[str] = Counter()
    began = time.monotonic()
    ends, url = threading.Event(), f"{address_of(kube)}/v1/models"

    def knock() -> None:
        while not ends.wait(0.05):
            try:
                with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310
                    outcomes["answered" if answer.read() else "empty"] += 1
            except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
                outcomes[f"{time.monotonic() - began:.2f} s: {error!r}"] += 1

    clients = [threading.Thread(target=knock) for _ in range(3)]
    for client in clients:
        client.start()
    try:
        yield outcomes
    finally:
        ends.set()
        for client in clients:
            client.join()


def the_service(kube: Kube) -> Body:
    body = kube.get("LLMService", "chat")
    assert body is not None
    return body


def the_template(kube: Kube) -> Body:
    deployment = kube.get("Deployment", "chat")
    assert deployment is not None
    template: Body = deployment["spec"]["template"]
    return template


def uids(kube: Kube) -> set[str]:
    return {pod["metadata"]["uid"] for pod in kube.list("Pod")}


def versions(kube: Kube) -> list[str]:
    bodies = [the_service(kube), *kube.list("Deployment"), *kube.list("Service")]
    return [body["metadata"]["resourceVersion"] for body in bodies]


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("strategy", ["Replace", "Surge"])
def test_traffic_never_stops_and_what_served_comes_back(kube: Kube, operator: Operator, strategy: str) -> None:
    kube.create(a_tiny_service(replicas=2, rollout={"strategy": strategy}))
    kube.wait_ready("chat")
    ask(kube)  # until kube-proxy has written its rules, a fresh Service answers nobody
    good, first = the_template(kube), uids(kube)
    with requests_all_the_time(kube) as outcomes:
        began = time.monotonic()
        kube.patch("LLMService", "chat", {"spec": {"model": ABSENT}})
        kube.wait_reason("chat", "ModelNotFound")
        assert first & uids(kube)
        kube.wait_ready("chat", reason="RolledBack", seconds=BUDGET_SECONDS)
        print(f"\n{strategy}: rolled back after {time.monotonic() - began:.0f} s; {dict(outcomes)}")  # noqa: T201
        kube.wait(lambda: len(kube.list("Pod")) == 2 or None, lambda: kube.list("Pod"))
    assert set(outcomes) == {"answered"}
    assert the_template(kube) == good
    assert first & uids(kube)
    body = the_service(kube)
    stalled = condition_of(body, "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "ModelNotFound")
    assert "absent.gguf" in condition_of(body, "Ready")["message"]
    assert (body["status"]["rollout"]["failed"]["generation"], body["status"]["observedGeneration"]) == (2, 2)
    assert event_reasons(kube).count("RolledBack") == 1

    kube.wait(lambda: "2/2" in the_service(kube)["status"]["replicaSummary"] or None, lambda: the_service(kube))
    time.sleep(QUIET_SECONDS)
    quiet = versions(kube)
    operator.stop()
    operator.start()
    time.sleep(QUIET_SECONDS)
    assert versions(kube) == quiet

    kube.patch("LLMService", "chat", {"spec": {"replicas": 3}})
    kube.wait(lambda: "3/3" in the_service(kube)["status"]["replicaSummary"] or None, lambda: the_service(kube))
    assert the_template(kube) == good

    kube.patch("LLMService", "chat", {"spec": {"model": {"uri": TINY}, "maxNumSeqs": 1, "replicas": 1}})
    kube.wait_ready("chat")
    assert condition_of(the_service(kube), "Stalled") == {}
