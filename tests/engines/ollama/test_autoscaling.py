"""The real Ollama, which measures nothing, scaled by what the proxy before it counts: 1 → 3 → 1."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cluster.kube import Kube
from tests.cluster.services import address_of, ask
from tests.engines.ollama.services import an_ollama_service
from tests.load.in_flight import InFlight
from tests.load.test_llamacpp import wait_for_one_replica
from tests.load.timeline import Timeline, table
from tests.local_registry.local_registry import LocalRegistry

pytestmark = [pytest.mark.engines, pytest.mark.slow]

MODEL = "tiny/llama:1b"
COUNTED = ("haproxy_server_current_sessions", "haproxy_backend_current_queue")
SLOTS, MOST_REPLICAS = 4, 3
BUSY = 11
"""Requests in flight: what two replicas have no slots for."""

TOKENS = 400
RESOURCES = {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"cpu": "250m", "memory": "512Mi"}}
"""A replica is slow, so that replicas add capacity, and the node has room for three of them."""

POLICIES: Mapping[str, Mapping[str, Any]] = {
    "threshold": {"policy": "Threshold", "targets": {"runningRequests": 3, "queuedRequests": 1}},
    "learned": {},
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_replicas_follow_the_load_up_and_down_and_no_request_fails(
    kube: Kube, reachable: LocalRegistry, policy: Mapping[str, Any]
) -> None:
    service = an_ollama_service(
        reachable.uri(MODEL),
        maxNumSeqs=SLOTS,
        pod={"resources": RESOURCES},
        autoscaling={"minReplicas": 1, "maxReplicas": MOST_REPLICAS, **policy},
    )
    kube.create(service)
    kube.wait_ready("chat", seconds=300)
    ask(kube, seconds=120)
    with (
        Timeline(kube, COUNTED) as seen,
        InFlight(address_of(kube), BUSY, max_tokens=TOKENS, prompt="hello ") as load,
    ):

        def three_serve() -> bool:
            return bool(seen.moments) and seen.moments[-1].ready >= MOST_REPLICAS

        def told() -> list[object]:
            return [load.measured(), *table(seen.moments)]

        kube.wait(lambda: three_serve() or None, told, seconds=400)
        kube.wait(lambda: len(load.outcomes) > 3 * BUSY or None, told, seconds=200)
        load.hold(0)
        wait_for_one_replica(kube)
    print(load.measured(), *table(seen.moments), *seen.messages, sep="\n")  # noqa: T201  (minutes of a test worth reading)

    assert load.failed == []
    assert max(moment.waiting for moment in seen.moments) > 0, "the proxy queued"
    assert max(seen.replicas) == MOST_REPLICAS
    assert (seen.replicas[0], seen.replicas[-1]) == (1, 1)
