"""Real llama.cpp, each replica held to 150m of CPU so that replicas add capacity: from idle to saturation and back."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service, address_of, ask
from tests.cluster.test_prometheus_source import MetricsServer
from tests.load.in_flight import InFlight
from tests.load.timeline import Timeline, table

pytestmark = pytest.mark.load

METRICS = ("llamacpp:requests_processing", "llamacpp:requests_deferred")
SLOTS, MOST_REPLICAS = 4, 4
CALM, BUSY = 1, 14
"""Requests in flight: what one replica serves with slots to spare, and more than three have slots for."""

CALM_SECONDS, BUSY_SECONDS = 20, 90
"""The latter from the moment at which three replicas are ready: fast machines get there sooner."""

TOKENS = 600
POD = {"cpu": "150m", "memory": "128Mi"}
THRESHOLD = {"policy": "Threshold", "targets": {"runningRequests": 3, "queuedRequests": 1}}
LEARNED: Mapping[str, Any] = {}


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("policy", [THRESHOLD, LEARNED], ids=["threshold", "learned"])
def test_replicas_follow_the_load_up_and_down_and_no_request_fails(
    kube: Kube, policy: Mapping[str, Any], results: Path, request: pytest.FixtureRequest
) -> None:
    follow_the_load(kube, policy, results / f"llamacpp-{request.node.callspec.id}.json")


@pytest.mark.usefixtures("models")
def test_the_same_by_what_a_prometheus_says(kube: Kube, prometheus: MetricsServer, results: Path) -> None:
    follow_the_load(
        kube, {"source": "Prometheus"}, results / "llamacpp-prometheus.json", lambda: prometheus.discover(kube)
    )


def follow_the_load(
    kube: Kube, policy: Mapping[str, Any], kept: Path, meanwhile: Callable[[], object] = lambda: None
) -> None:
    """The load, and what must be true of it."""
    service = a_tiny_service(
        maxNumSeqs=SLOTS,
        maxModelLen=2048,
        pod={"resources": {"requests": POD, "limits": POD}},
        autoscaling={"minReplicas": 1, "maxReplicas": MOST_REPLICAS, **policy},
    )
    kube.create(service)
    kube.wait_ready("chat")
    meanwhile()
    ask(kube)
    load = InFlight(address_of(kube), CALM, max_tokens=TOKENS)
    with Timeline(kube, METRICS) as seen, load:

        def three_serve() -> bool:
            meanwhile()
            return seen.moments[-1].ready >= 3

        let_pass(CALM_SECONDS, meanwhile)
        load.hold(BUSY)
        kube.wait(three_serve, lambda: [load.measured(), *table(seen.moments)], seconds=300)
        let_pass(BUSY_SECONDS, meanwhile)
        load.hold(0)
        wait_for_one_replica(kube)
    seen.save(kept)
    print(load.measured(), *table(seen.moments), *seen.messages, sep="\n")  # noqa: T201  (minutes of a test worth reading)

    assert len(load.outcomes) > BUSY, "who was answered asked again"
    assert load.failed == []
    assert max(moment.waiting for moment in seen.moments) > 0
    assert (seen.replicas[-1], seen.moments[-1].waiting) == (1, 0)
    peak = seen.replicas.index(max(seen.replicas))
    assert seen.replicas[: peak + 1] == sorted(seen.replicas[: peak + 1])
    assert seen.replicas[peak:] == sorted(seen.replicas[peak:], reverse=True), "up once, down once: no flapping"
    told = [tuple(map(int, step)) for text in seen.messages for step in re.findall(r"^(\d+) → (\d+):", text)]
    assert told == list(zip(seen.replicas, seen.replicas[1:], strict=False))
    assert strangers(seen) == []


def let_pass(seconds: float, meanwhile: Callable[[], object]) -> None:
    """Time, with something to do in it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        meanwhile()
        time.sleep(1)


def strangers(seen: Timeline) -> list[str]:
    """Messages of a step up whose number of requests no scrape of ours within a period before it comes near."""
    wrong = []
    for moment, before in zip(seen.moments[1:], seen.moments, strict=False):
        text = moment.status.get("message", "")
        found = re.match(r"(\d+) → (\d+): (?:queue|running|)\s*(\d+)", text)
        if text == before.status.get("message") or not found or int(found[2]) < int(found[1]):
            continue
        held = [
            number
            for other in seen.moments
            if -15 <= other.at - moment.at <= 3
            for number in (other.waiting, other.running, other.waiting + other.running)
        ]
        if not any(abs(int(found[3]) - number) <= 2 for number in held):
            wrong.append(f"{moment.at:.0f} s: {text}; seen {held}")
    return wrong


def wait_for_one_replica(kube: Kube, seconds: float = 700) -> None:
    """Until one is asked for and one is left."""

    def is_alone() -> bool:
        body = kube.get("LLMService", "chat")
        return bool(body and body["status"]["replicaSummary"] == "1/1" and len(kube.list("Pod")) == 1)

    kube.wait(is_alone, lambda: kube.get("LLMService", "chat"), seconds)
