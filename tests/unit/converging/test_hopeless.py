"""When failed starts prove that no time helps: from the pods of the template, their diagnosis and what was said."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.hopeless import is_hopeless
from llmservice.converging.progress import Progress
from tests.unit.converging.plans import a_pod

SEEN = Progress(desired=1, total=1, updated=1, seen=True)
WRONG = Diagnosis(reason=Reason.ENGINE_ARGUMENT_REJECTED, message="the engine rejects --x; remove it")
PASSES = dataclasses.replace(WRONG, self_healing=True)
OPEN = dataclasses.replace(WRONG, uncertain=True)
MISNAMED = Diagnosis(reason=Reason.IMAGE_NAME_INVALID, message="this is no image reference", failed_starts=0)


def crashes(restarts: int, **engine: Any) -> dict[str, Any]:
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    return a_pod(
        ready=False, containerStatuses=[{"name": "engine", "restartCount": restarts, "state": state, **engine}]
    )


def said(reason: Reason, generation: int = 1) -> dict[str, Any]:
    return {"observedGeneration": generation, "conditions": [{"type": "Ready", "status": "False", "reason": reason}]}


SAME = said(WRONG.reason)


@pytest.mark.parametrize(
    ("diagnosis", "restarts", "hopeless"),
    [(WRONG, 1, False), (WRONG, 2, True), (PASSES, 9, False), (OPEN, 9, False), (None, 9, False), (MISNAMED, 0, True)],
    ids=["two starts", "three starts", "may pass", "nobody can tell", "nothing is wrong", "no start can succeed"],
)
def test_three_failed_starts_prove_it_where_no_time_helps(
    diagnosis: Diagnosis | None, restarts: int, *, hopeless: bool
) -> None:
    assert is_hopeless(SEEN, [crashes(restarts)], diagnosis, SAME, 1) is hopeless


@pytest.mark.parametrize(
    "before", [{}, said(Reason.CRASH_LOOPING), said(WRONG.reason, generation=2)], ids=["nothing", "another", "older"]
)
def test_the_crash_before_must_have_had_the_same_cause_in_the_same_generation(before: dict[str, Any]) -> None:
    assert not is_hopeless(SEEN, [crashes(5)], WRONG, before, 1)


def test_an_edit_that_the_deployment_has_not_seen_has_proven_nothing() -> None:
    assert not is_hopeless(dataclasses.replace(SEEN, seen=False), [crashes(5)], WRONG, SAME, 1)


def test_a_replica_that_serves_or_has_started_leaves_hope() -> None:
    assert not is_hopeless(SEEN, [crashes(5), a_pod()], WRONG, SAME, 1)
    assert not is_hopeless(SEEN, [crashes(5, started=True, state={"running": {}})], WRONG, SAME, 1)


def test_without_a_pod_of_the_template_nothing_is_proven() -> None:
    assert not is_hopeless(SEEN, [], WRONG, SAME, 1)
    assert not is_hopeless(SEEN, [], MISNAMED, SAME, 1)
