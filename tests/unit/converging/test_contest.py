"""Which client is named as the one that overwrites our fields."""

from typing import Any

import pytest

from llmservice.converging.contest import contest
from llmservice.objects.references import Manifest

FIELDS: Manifest = {"f:spec": {"f:containers": {'k:{"name":"engine"}': {"f:image": {}}}}}
INTENT: Manifest = {
    "kind": "Deployment",
    "metadata": {"name": "chat"},
    "spec": {"containers": [{"name": "engine", "image": "a"}]},
}
WHERE = "spec.containers[engine].image"


def live(*managers: Any, fields: Any = FIELDS, image: str = "b") -> Manifest:
    entries = [{"manager": manager, "operation": "Update", "fieldsV1": fields} for manager in managers]
    containers = [{"name": "engine", "image": image}]
    return {
        "kind": "Deployment",
        "metadata": {"name": "chat", "managedFields": entries},
        "spec": {"containers": containers},
    }


@pytest.mark.parametrize(
    ("found", "managers"),
    [
        (live("keel"), {"keel"}),
        (live("llmservice-operator", "keel", "argocd"), {"keel", "argocd"}),
        (live("llmservice-operator"), set()),
        (live("keel", fields={"f:spec": {"f:containers": {'k:{"name":"x"}': {}}}}), set()),
        (live("keel", fields={"f:spec": {}}), {"keel"}),
        (live(), set()),
    ],
)
def test_the_owners_of_the_field_that_differs_are_named(found: Manifest, managers: set[str]) -> None:
    text = contest(found, INTENT, None)
    assert text.startswith("Deployment chat: ")
    assert WHERE in text
    assert {name for name in ("keel", "argocd", "llmservice-operator") if name in text} == managers


@pytest.mark.parametrize("found", [live("keel", image="a"), None])
def test_no_field_is_named_where_none_differs(found: Manifest | None) -> None:
    assert WHERE not in contest(found, INTENT, None)


def test_what_our_own_write_came_back_with_is_a_webhooks() -> None:
    text = contest(live("keel"), INTENT, ("spec", "containers", ("engine",), "image"))
    assert WHERE in text
    assert "webhook" in text
    assert "keel" not in text


def test_a_name_as_long_as_can_be_is_cut() -> None:
    assert len(contest(live("x" * 128, "y" * 128), INTENT, None)) < 400
