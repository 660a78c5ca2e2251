"""Name conflicts: who owns the object that has our name, and the remedy for each case."""

from typing import Any

import pytest

from llmservice.converging.intent import with_digest
from llmservice.converging.taken_names import NameConflict, name_conflict
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.planning.service_plan import Owner

OWNER = Owner(namespace="ml", name="chat", uid="u-2", generation=1)
LABELS = {"llmservice.dev/name": "chat"}


def an_object(kind: str = "Service", **metadata: Any) -> Manifest:
    return {"kind": kind, "metadata": {"name": "chat", "namespace": "ml", **metadata}}


def controlled_by(kind: str, name: str, uid: str = "u-1") -> list[Manifest]:
    group = "llmservice.dev/v1alpha1" if kind == "LLMService" else "apps/v1"
    return [{"apiVersion": group, "kind": kind, "name": name, "uid": uid, "controller": True}]


ORPHAN = with_digest(an_object(labels=LABELS))
LEAVING = an_object(ownerReferences=controlled_by("LLMService", "chat"))


def conflict(*taken: Manifest) -> NameConflict:
    return name_conflict(OWNER, {ref_of(live): live for live in taken})


def test_an_orphan_is_named_with_the_command_that_removes_it() -> None:
    found = conflict(ORPHAN, with_digest(an_object("Deployment", labels=LABELS)))
    assert "Deployment chat, Service chat" in found.message
    assert "`kubectl -n ml delete deployment/chat service/chat`" in found.message
    assert not found.passes


@pytest.mark.parametrize("live", [LEAVING, an_object(deletionTimestamp="2026-01-01T00:00:00Z")])
def test_what_kubernetes_is_about_to_take_away_is_waited_for(live: Manifest) -> None:
    found = conflict(live)
    assert "Service chat" in found.message
    assert found.passes


@pytest.mark.parametrize(
    "live",
    [
        an_object(),
        an_object(labels=LABELS),
        an_object(ownerReferences=controlled_by("LLMService", "other")),
        {**ORPHAN, "metadata": {**ORPHAN["metadata"], "ownerReferences": controlled_by("ReplicaSet", "x")}},
        {**ORPHAN, "metadata": {**ORPHAN["metadata"], "labels": {"llmservice.dev/name": "other"}}},
    ],
    ids=["bare", "only the label", "another LLMService's", "copied annotations", "another service's"],
)
def test_everything_else_is_foreign(live: Manifest) -> None:
    found = conflict(live)
    assert "Service chat" in found.message
    assert "kubectl" not in found.message, "no command that deletes somebody else's"
    assert not found.passes


def test_who_controls_it_is_named() -> None:
    assert "(StatefulSet db)" in conflict(an_object(ownerReferences=controlled_by("StatefulSet", "db"))).message


def test_one_that_stays_is_no_wait() -> None:
    taken = {Ref("Service", "ml", "chat"): LEAVING, Ref("Deployment", "ml", "chat"): an_object("Deployment")}
    found = name_conflict(OWNER, taken)
    assert not found.passes
    assert [part.partition(":")[0] for part in found.message.split("; ") if "chat" in part] == [
        "Service chat",
        "Deployment chat",
    ]
