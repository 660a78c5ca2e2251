"""Desired against observed: the table of `diff`, and what counts as drift."""

from typing import Any

import pytest

from llmservice.converging.changes import Apply, Delete, diff
from llmservice.converging.intent import covers, difference, digest_of, intent_digest, with_digest
from llmservice.converging.observed import Observed
from llmservice.objects.references import Manifest, Ref, ref_of

CHAT = Ref("Service", "ml", "chat")


def a_service(port: int = 80, **metadata: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat", "namespace": "ml", **metadata},
        "spec": {"ports": [{"name": "http", "port": port}]},
    }


def live(manifest: Manifest, **metadata: Any) -> Manifest:
    applied = with_digest(manifest)
    return {**applied, "metadata": {**applied["metadata"], "uid": "u-1", "resourceVersion": "7", **metadata}}


def observed(*children: Manifest) -> Observed:
    return Observed(children={ref_of(child): child for child in children})


def test_creates_what_is_missing_without_a_uid() -> None:
    (change,) = diff([a_service()], observed())
    assert isinstance(change, Apply)
    assert (change.why, change.ref) == ("created", CHAT)
    assert "uid" not in change.manifest["metadata"]


def test_writes_nothing_when_all_is_as_desired() -> None:
    assert diff([a_service()], observed(live(a_service()))) == ()


def test_a_new_intent_is_applied_to_exactly_the_object_that_was_seen() -> None:
    (change,) = diff([a_service(81)], observed(live(a_service(80))))
    assert isinstance(change, Apply)
    assert (change.why, change.manifest["metadata"]["uid"]) == ("changed", "u-1")


def test_repairs_a_field_that_somebody_edited() -> None:
    edited = live(a_service())
    edited["spec"] = {"ports": [{"name": "http", "port": 9}]}
    (change,) = diff([a_service()], observed(edited))
    assert isinstance(change, Apply)
    assert change.why == "repaired"


def test_leaves_foreign_fields_alone() -> None:
    extended = live(a_service())
    extended["metadata"]["annotations"]["team"] = "search"
    extended["spec"] = {**extended["spec"], "clusterIP": "10.0.0.7"}
    assert diff([a_service()], observed(extended)) == ()


def test_waits_for_an_object_that_is_being_deleted() -> None:
    assert diff([a_service(81)], observed(live(a_service(), deletionTimestamp="2026-01-01T00:00:00Z"))) == ()


@pytest.mark.parametrize("kind", ["NetworkPolicy", "PodDisruptionBudget"])
def test_deletes_by_uid_what_is_no_longer_desired(kind: str) -> None:
    assert diff([], observed(live({**a_service(), "kind": kind}))) == (Delete(Ref(kind, "ml", "chat"), "u-1"),)


@pytest.mark.parametrize("kind", ["Deployment", "Service"])
def test_what_a_resource_always_needs_is_never_deleted(kind: str) -> None:
    """One of another name was made by somebody who wrote our UID into it; the operator has no right to delete it."""
    assert diff([], observed(live({**a_service(), "kind": kind}))) == ()


def test_the_digest_shows_a_dropped_field_that_the_live_object_still_has() -> None:
    with_label, without = a_service(labels={"a": "b"}), a_service()
    assert covers(live(with_label), without)
    assert digest_of(live(with_label)) != intent_digest(without)


@pytest.mark.parametrize(
    ("live_value", "path"),
    [
        ({"env": [{"name": "A", "value": "1"}], "image": "x"}, ("image",)),
        ({"env": [{"name": "A", "value": "2"}], "image": "e"}, ("env", ("A",), "value")),
        ({"env": [], "image": "e"}, ("env", ("A",))),
        ({"image": "e"}, ("env",)),
        ({"env": [{"name": "A", "value": "1"}], "image": "e"}, None),
    ],
)
def test_where_it_differs_is_named(live_value: Any, path: Any) -> None:
    assert difference(live_value, {"env": [{"name": "A", "value": "1"}], "image": "e"}) == path


def test_the_digest_does_not_see_replicas() -> None:
    few, many = ({**a_service(), "spec": {"replicas": count}} for count in (1, 9))
    assert intent_digest(few) == intent_digest(many)


@pytest.mark.parametrize(
    ("live_value", "intent", "covered"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({}, {"a": {}}, True),
        ({}, {"a": 0}, False),
        ({"args": ["x", "y"]}, {"args": ["x"]}, False),
        ({"args": ["x"]}, {"args": ("x",)}, True),
        ({"env": [{"name": "A", "value": "1"}, {"name": "B"}]}, {"env": [{"name": "B"}]}, True),
        ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": "2"}]}, False),
        ({"ports": [{"containerPort": 8000, "protocol": "TCP"}]}, {"ports": [{"containerPort": 8000}]}, True),
        ({"tolerations": [{"key": "a"}, {"key": "b"}]}, {"tolerations": [{"key": "a"}]}, False),
        (None, {"a": 1}, False),
        ({"selector": {"app": "x"}}, {"selector": {"app": "x"}}, True),
        ({"selector": {"app": "x", "more": "y"}}, {"selector": {"app": "x"}}, False),
        ({"podSelector": {"matchLabels": {}, "matchExpressions": []}}, {"podSelector": {"matchLabels": {}}}, True),
        ({"podSelector": {"matchExpressions": [{"key": "a"}]}}, {"podSelector": {"matchLabels": {}}}, False),
        ({"podSelector": {}}, {"podSelector": {"matchLabels": {}}}, True),
        ({"podSelector": {"matchLabels": {"a": "b"}}}, {"podSelector": {}}, False),
        ({}, {"paused": False}, True),
        ({"paused": True}, {"paused": False}, False),
        ({}, {"automountServiceAccountToken": False}, False),
    ],
)
def test_an_intent_is_covered_when_each_of_its_fields_stands(live_value: Any, intent: Any, covered: bool) -> None:
    assert covers(live_value, intent) is covered
