"""What is cached of a route: a controller may say megabytes of it."""

import json
from typing import Any

from llmservice.cluster.caching.trimming import trimmed
from tests.unit.converging.routes import a_route, an_answer, answered


def owned(**status: Any) -> dict[str, Any]:
    return {**a_route(), "status": status}


def test_answers_are_kept_and_nothing_else_of_the_status() -> None:
    kept = trimmed(answered(a_route(), an_answer(Accepted=True)))
    (parent,) = kept["status"]["parents"]
    assert parent["parentRef"]["sectionName"] == "https"
    (said,) = parent["conditions"]
    assert (said["type"], said["status"], said["observedGeneration"]) == ("Accepted", "True", 1)
    assert "lastTransitionTime" not in said


def test_the_longest_status_that_the_api_allows_becomes_small() -> None:
    said = an_answer(Accepted=("R" * 1024, "m" * 32768), ResolvedRefs=("R" * 1024, "m" * 32768))
    kept = trimmed(answered(a_route(), *[{**said, "conditions": said["conditions"] * 4}] * 64))
    assert len(json.dumps(kept)) < 300_000


def test_what_is_no_status_of_a_route_is_passed_over() -> None:
    kept = trimmed(owned(parents=["x", {"parentRef": {"port": "y"}, "conditions": ["z", {"type": 3}]}]))
    assert kept["status"]["parents"] == [{"parentRef": {}, "conditions": [{"type": "3"}]}]
    assert "status" not in trimmed(owned(parents=[]))


def test_a_strangers_route_is_only_its_identity() -> None:
    stranger = a_route()
    stranger["metadata"]["ownerReferences"] = []
    assert "spec" not in trimmed(stranger)
