"""Which EndpointSlices are the operator's, and what those of a selector tell."""

from typing import Any

import pytest

from llmservice.objects.endpoint_slices import has_endpoints, has_ready_replica, is_ours, port_of
from llmservice.objects.references import Manifest
from tests.builders import with_changes

OURS: Manifest = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {
        "name": "chat-activator",
        "namespace": "ml",
        "uid": "slice",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {
            "llmservice.dev/name": "chat",
            "kubernetes.io/service-name": "chat",
            "endpointslice.kubernetes.io/managed-by": "llmservice.dev",
        },
        "ownerReferences": [{"kind": "LLMService", "name": "chat", "uid": "service", "controller": True}],
    },
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["10.0.0.9"], "conditions": {"ready": True}}],
    "ports": [{"name": "http", "port": 20_007, "protocol": "TCP"}],
}
OF_SELECTOR = with_changes(
    OURS,
    {
        "metadata__name": "chat-x1y2z",
        "metadata__labels": {"llmservice.dev/name": "chat", "kubernetes.io/service-name": "chat"},
        "metadata__ownerReferences": [{"kind": "Service", "name": "chat", "uid": "svc", "controller": True}],
    },
)


def test_ours_is_known_by_labels_name_and_controller() -> None:
    assert is_ours(OURS)
    assert not is_ours(OF_SELECTOR)


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata__name": "other-activator"},
        {"metadata__labels": {"llmservice.dev/name": "chat"}},
        {"metadata__ownerReferences": []},
    ],
)
def test_what_only_looks_like_ours_is_not(changes: dict[str, Any]) -> None:
    assert not is_ours(with_changes(OURS, changes))


@pytest.mark.parametrize("port", [19_999, 30_000, "20007", None])
def test_only_ports_of_activators_count(port: object) -> None:
    assert port_of(OURS) == 20_007
    assert port_of(with_changes(OURS, {"ports": [{"port": port}]})) is None


@pytest.mark.parametrize(
    ("endpoints", "found"),
    [
        ([], False),
        (None, False),
        ([{"addresses": ["10.0.0.9"], "conditions": {"ready": False}}], False),
        ([{"addresses": ["10.0.0.9"], "conditions": {}}], True),
        ([{"addresses": ["10.0.0.9"]}], True),
    ],
)
def test_an_unknown_condition_is_ready_as_kubernetes_has_it(endpoints: object, found: bool) -> None:
    assert has_endpoints(with_changes(OURS, {"endpoints": endpoints})) == found


def test_a_replica_is_ready_by_the_slices_of_the_service_that_are_not_ours() -> None:
    assert has_ready_replica([OURS, OF_SELECTOR], "chat")
    assert not has_ready_replica([OURS], "chat")
    elsewhere = with_changes(OF_SELECTOR, {"metadata__labels": {"kubernetes.io/service-name": "other"}})
    assert not has_ready_replica([OURS, elsewhere], "chat")
