"""Who is told to undo our writes."""

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
    ("found", "words"),
    [
        (live("keel"), f"Deployment chat: keel sets {WHERE} again"),
        (live("llmservice-operator", "keel", "argocd"), f"keel, argocd sets {WHERE} again"),
        (live("llmservice-operator"), f"another operator of LLMServices sets {WHERE} again"),
        (live("keel", fields={"f:spec": {"f:containers": {'k:{"name":"x"}': {}}}}), f"somebody sets {WHERE} again"),
        (live("keel", fields={"f:spec": {}}), f"keel sets {WHERE} again"),
        (live(), f"somebody sets {WHERE} again"),
        (live("keel", image="a"), "somebody changes it after every repair"),
        (None, "somebody deletes it whenever it is made"),
    ],
)
def test_the_owner_of_the_field_that_differs_is_named(found: Manifest | None, words: str) -> None:
    assert words in contest(found, INTENT, None)


def test_what_our_own_write_came_back_with_is_a_webhooks() -> None:
    path = ("spec", "containers", ("engine",), "image")
    assert f"an admission webhook changes {WHERE} in every write" in contest(live("keel"), INTENT, path)


def test_a_name_as_long_as_can_be_is_cut() -> None:
    assert len(contest(live("x" * 128, "y" * 128), INTENT, None)) < 400
