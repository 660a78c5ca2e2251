"""EndpointSlices as anybody may have written them."""

from typing import Any

import pytest

from llmservice.activator.slices import Activation, Replica, Served, kept_of_slice, served


def ours(port: int = 20_007, name: str = "chat", **changed: Any) -> dict[str, Any]:
    """The operator's slice of a service."""
    return a_slice("llmservice.dev", port, name, **changed)


def theirs(*addresses: str, name: str = "chat", **changed: Any) -> dict[str, Any]:
    """One of the endpoint slice controller."""
    endpoints = [{"addresses": [each], "conditions": {"ready": True}} for each in addresses]
    return a_slice("endpointslice-controller.k8s.io", 8000, name, **({"endpoints": endpoints} | changed))


def a_slice(manager: str, port: int, name: str, **changed: Any) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": manager}
    metadata = {
        "name": f"{name}-1",
        "namespace": changed.pop("namespace", "default"),
        "uid": changed.pop("uid", "1"),
        "creationTimestamp": changed.pop("since", "2026-01-01T00:00:00Z"),
        "resourceVersion": "1",
        "labels": labels | {"llmservice.dev/name": name},
        "annotations": {"llmservice.dev/activation": changed.pop("activation", "{}"), "other": "x" * 10_000},
    }
    made = {"kind": "EndpointSlice", "metadata": metadata, "addressType": "IPv4", "endpoints": []}
    return kept_of_slice({**made, "ports": [{"name": "http", "port": port, "protocol": "TCP"}], **changed})


def only(*slices: dict[str, Any]) -> Served:
    by_port, without = served(slices)
    assert without == ()
    (found,) = by_port.values()
    return found


def test_a_service_is_known_by_port_with_its_ready_replicas() -> None:
    found = only(
        theirs("10.0.0.2", "10.0.0.1"), ours(endpoints=[{"addresses": ["10.0.1.1"]}]), theirs("10.9.9.9", name="x")
    )
    assert (found.port, str(found), found.in_path) == (20_007, "default/chat", True)
    assert found.replicas == (Replica("10.0.0.1", 8000), Replica("10.0.0.2", 8000))


def test_slices_of_another_namespace_are_another_service() -> None:
    assert only(ours(), theirs("10.0.0.1", namespace="other")).replicas == ()


@pytest.mark.parametrize(
    ("conditions", "is_ready"),
    [({}, True), (None, True), ({"ready": None}, True), ({"ready": True}, True), ({"ready": False}, False)],
)
def test_an_endpoint_is_ready_unless_somebody_says_otherwise(conditions: Any, is_ready: bool) -> None:
    replica = theirs(endpoints=[{"addresses": ["10.0.0.1"], "conditions": conditions}])
    assert bool(only(ours(), replica).replicas) == is_ready


def test_a_pod_of_two_families_counts_once() -> None:
    six = theirs("fd00::1", addressType="IPv6")
    assert only(ours(), theirs("10.0.0.1"), six).replicas == (Replica("10.0.0.1", 8000),)
    assert [each.origin for each in only(ours(addressType="IPv6"), six).replicas] == ["http://[fd00::1]:8000"]


def test_the_port_of_a_replica_is_the_one_of_the_same_name() -> None:
    ports = [{"name": "metrics", "port": 9000}, {"name": "http", "port": 8000}]
    assert only(ours(), theirs("10.0.0.1", ports=ports)).replicas == (Replica("10.0.0.1", 8000),)
    assert only(ours(), theirs("10.0.0.1", ports=ports[:1])).replicas == ()


def test_of_two_that_name_one_port_the_older_has_it() -> None:
    younger = ours(name="younger", uid="a", since="2026-01-02T00:00:00Z")
    older = ours(name="older", uid="b", since="2026-01-01T00:00:00Z")
    by_port, without = served([younger, older])
    assert ([str(each) for each in by_port.values()], [str(each) for each in without]) == (
        ["default/older"],
        ["default/younger"],
    )


@pytest.mark.parametrize(
    "broken",
    [
        ours(80),
        ours(19_999),
        ours(30_000),
        ours(ports=[]),
        ours(ports=None),
        ours(ports=[{"name": "http"}]),
        ours(ports=[{"name": "http", "port": None}]),
        ours(name=""),
    ],
)
def test_a_slice_without_a_port_of_the_range_is_nobodys(broken: dict[str, Any]) -> None:
    assert served([broken]) == ({}, ())


def test_the_annotation_says_what_is_answered_and_how_much_is_sent() -> None:
    text = '{"models":["chat"],"concurrency":4,"startSeconds":42,"maxWaitSeconds":60,"maxHeld":7,"later":1}'
    told = only(ours(activation=text)).activation
    expected = Activation(models=("chat",), concurrency=4, startSeconds=42, maxWaitSeconds=60, maxHeld=7)
    assert told == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[]", "null", '{"concurrency":0}', '{"concurrency":"4"}', '{"maxHeld":-1}', '{"models":"chat"}'),
        *('{"models":[1]}', '{"startSeconds":NaN}', '{"maxWaitSeconds":1e999}', '{"models":["' + "x" * 5000 + '"]}'),
        "[" * 4000,
    ],
)
def test_an_annotation_that_says_nothing_usable_is_as_good_as_none(text: str) -> None:
    assert only(ours(activation=text)).activation == Activation()


def test_endpoints_without_an_address_are_none() -> None:
    assert only(ours(), theirs(endpoints=[{"addresses": []}, {}])).replicas == ()
    assert only(ours(), theirs(endpoints=None)).replicas == ()


def test_little_of_a_slice_is_kept() -> None:
    kept = ours()
    assert set(kept["metadata"]["annotations"]) == {"llmservice.dev/activation"}
