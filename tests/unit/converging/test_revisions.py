"""What a template is made from, kept on the Deployment; and which revision is in force."""

import json
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.revisions import gave_up, in_force
from llmservice.converging.template_source import (
    digest_of_request,
    digest_of_source,
    made_from,
    served_source,
    source_from,
    source_of,
    with_sources,
)
from llmservice.objects.names import LONGEST_SOURCE, SERVED_SOURCE_ANNOTATION, SOURCE_ANNOTATION
from llmservice.objects.references import Manifest
from tests.builders import an_llmservice
from tests.unit.planning.planned import planned

FACTS = planned().facts
SPEC: dict[str, Any] = an_llmservice()["spec"]
BEFORE = source_of({**SPEC, "maxNumSeqs": 2}, FACTS).as_text()
NOW = source_of({**SPEC, "maxNumSeqs": 3}, FACTS).as_text()


def a_deployment(now: str = "", before: str = "") -> Manifest:
    given = {SOURCE_ANNOTATION: now, SERVED_SOURCE_ANNOTATION: before}
    annotations = {name: text for name, text in given.items() if text}
    return {"kind": "Deployment", "metadata": {"name": "chat", "annotations": annotations}, "spec": {}}


def written(now: str, live: Manifest | None, served: str) -> tuple[str, str]:
    """Both annotations as they are applied."""
    (manifest,) = with_sources([a_deployment()], now, live, served)
    annotations = manifest["metadata"]["annotations"]
    return annotations.get(SOURCE_ANNOTATION, ""), annotations.get(SERVED_SOURCE_ANNOTATION, "")


def rolled_back(**status: Any) -> Manifest:
    """A resource whose third generation was given up, and whose second served."""
    body = an_llmservice(metadata__generation=3, spec__maxNumSeqs=3, spec__replicas=2)
    failed = {
        "generation": 3,
        "digest": digest_of_request(LLMService.parse(body)),
        "reason": "CrashLooping",
        "message": "it exits",
        "at": "2026-01-01T00:00:00Z",
    }
    served = {"generation": 2, "digest": digest_of_source(BEFORE)}
    return {**body, "status": {"rollout": {"served": served, "failed": failed, **status}}}


def test_fields_that_change_no_pod_are_left_out() -> None:
    source = source_from(source_of({**SPEC, "replicas": 3, "suspend": True, "autoscaling": {}}, FACTS).as_text())
    assert source is not None
    assert (source.spec, source.facts) == (SPEC, FACTS)


def test_what_is_too_long_is_not_kept() -> None:
    assert source_of({"engine": "x" * LONGEST_SOURCE}, FACTS).as_text() == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "{}", '{"spec": {}, "facts": 1}', '{"spec": [], "facts": ""}', '{"spec": {}, "facts": "?"}'),
        json.dumps({"spec": {"engine": "x" * LONGEST_SOURCE}, "facts": FACTS}),
    ],
)
def test_what_is_no_source_is_none(text: str) -> None:
    assert source_from(text) is None


@pytest.mark.parametrize(
    ("live", "served", "expected"),
    [
        (None, "", (NOW, "")),
        (a_deployment(BEFORE), digest_of_source(BEFORE), (NOW, BEFORE)),
        (a_deployment(BEFORE), "", (NOW, "")),
        (a_deployment(NOW, BEFORE), digest_of_source(BEFORE), (NOW, BEFORE)),
        (a_deployment(NOW, BEFORE), digest_of_source(NOW), (NOW, BEFORE)),
        (a_deployment("another that failed", BEFORE), digest_of_source(BEFORE), (NOW, BEFORE)),
        (a_deployment("another that failed", NOW), digest_of_source(NOW), (NOW, "")),
    ],
    ids=["new", "served", "never served", "again", "served now", "failed before", "back to it"],
)
def test_what_served_is_kept_until_something_else_has(
    live: Manifest | None, served: str, expected: tuple[str, str]
) -> None:
    assert written(NOW, live, served) == expected


def test_what_served_is_found_in_either_place() -> None:
    digest = digest_of_source(BEFORE)
    assert served_source(a_deployment(NOW, BEFORE), digest) == BEFORE
    assert served_source(a_deployment(BEFORE), digest) == BEFORE
    assert served_source(a_deployment(NOW), digest) == ""
    assert made_from(None) == ""


def test_after_a_rollback_what_served_is_planned_with_the_newest_replicas() -> None:
    force = in_force(rolled_back(), a_deployment(NOW, BEFORE))
    assert (force.body["spec"]["maxNumSeqs"], force.body["spec"]["replicas"]) == (2, 2)
    assert force.body["status"]["plan"] == {"generation": 3, "facts": FACTS}
    assert (force.generation, force.source_with("others")) == (2, BEFORE)
    assert force.newest["spec"]["maxNumSeqs"] == 3


@pytest.mark.parametrize("deployment", [None, a_deployment(), a_deployment(NOW), a_deployment(NOW, "{}")])
def test_without_what_served_the_newest_is_in_force(deployment: Manifest | None) -> None:
    body = rolled_back()
    force = in_force(body, deployment)
    assert (force.body, force.failed, force.source, force.generation) == (body, None, "", 3)


@pytest.mark.parametrize(
    "status",
    [
        {"failed": None},
        {"failed": {"generation": 3}},
        {"failed": "yes"},
        {"served": None},
        {"served": {"generation": "2", "digest": "x"}},
        {"served": {"generation": 2, "digest": ""}},
    ],
)
def test_a_status_of_another_form_says_nothing(status: dict[str, Any]) -> None:
    assert in_force(rolled_back(**status), a_deployment(NOW, BEFORE)).failed is None


@pytest.mark.parametrize(
    ("field", "value", "tried"),
    [
        ("spec__replicas", 5, False),
        ("spec__suspend", True, False),
        ("spec__networkPolicy", {"ingressFrom": []}, False),
        ("spec__rollout", {"onFailure": "Rollback"}, False),
        ("spec__rollout", {"onFailure": "Hold"}, True),
        ("spec__maxNumSeqs", 4, True),
        ("metadata__annotations", {"llmservice.dev/update": "now"}, True),
        ("metadata__annotations", {"example.com/note": "now"}, False),
        ("spec__engine", 7, True),
    ],
)
def test_an_edit_of_what_runs_is_tried(field: str, value: Any, *, tried: bool) -> None:
    status = rolled_back()["status"]
    changes = {"metadata__generation": 4, "spec__maxNumSeqs": 3, "spec__replicas": 2, field: value}
    assert gave_up({**an_llmservice(**changes), "status": status}) is not tried
