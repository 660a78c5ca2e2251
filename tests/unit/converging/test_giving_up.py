"""When a change has failed: from the pods of the new template, their diagnosis and the deadline alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.giving_up import GOES_ON, judge
from llmservice.converging.progress import Progress
from tests.unit.converging.plans import a_pod

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
UNDER_WAY = Progress(desired=2, total=2, updated=1, ready=1, seen=True)
LATE = Progress(desired=2, total=2, updated=1, ready=1, seen=True, late=True)
WRONG = Diagnosis(reason=Reason.ENGINE_ARGUMENT_REJECTED, message="the engine rejects --x; remove it")
UNNAMED = Diagnosis(reason=Reason.CRASH_LOOPING, message="the engine exited with code 1", uncertain=True)
PASSES = Diagnosis(reason=Reason.SECRET_NOT_FOUND, message="Secret words does not exist", self_healing=True)


def crashes(restarts: int, **engine: Any) -> dict[str, Any]:
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    return a_pod(
        ready=False, containerStatuses=[{"name": "engine", "restartCount": restarts, "state": state, **engine}]
    )


def after(seconds: float) -> datetime:
    return CREATED + timedelta(seconds=seconds)


@pytest.mark.parametrize("progress", [Progress(), Progress(desired=2), Progress(seen=True, late=True)])
def test_what_has_not_begun_or_wants_nothing_goes_on(progress: Progress) -> None:
    assert judge(progress, [crashes(9)], WRONG, after(9999)) == GOES_ON


def test_a_replica_that_serves_keeps_a_change_whatever_the_others_do() -> None:
    assert judge(LATE, [a_pod(), crashes(9)], WRONG, after(9999)) == GOES_ON


@pytest.mark.parametrize("diagnosis", [WRONG, UNNAMED, PASSES])
def test_past_the_deadline_every_cause_counts(diagnosis: Diagnosis) -> None:
    verdict = judge(LATE, [crashes(0)], diagnosis, after(1))
    assert (verdict.reason, verdict.message) == (diagnosis.reason, diagnosis.message)


@pytest.mark.parametrize(
    ("pods", "reason"),
    [
        ([a_pod(ready=False, containerStatuses=[{"name": "engine", "state": {"running": {}}}])], Reason.LOADING),
        ([a_pod(ready=False)], Reason.STARTING),
        ([], Reason.PROGRESSING),
    ],
)
def test_past_the_deadline_it_is_told_what_was_waited_for(pods: list[dict[str, Any]], reason: Reason) -> None:
    verdict = judge(LATE, pods, None, after(1))
    assert verdict.reason == reason
    assert verdict.message


@pytest.mark.parametrize(
    ("diagnosis", "restarts", "seconds", "failed"),
    [
        (WRONG, 3, 120, True),
        (WRONG, 2, 9999, False),
        (UNNAMED, 5, 599, False),
        (UNNAMED, 5, 600, True),
        (PASSES, 9, 9999, False),
        (None, 9, 9999, False),
    ],
)
def test_before_the_deadline_only_crashes_that_no_time_ends(
    diagnosis: Diagnosis | None, restarts: int, seconds: int, *, failed: bool
) -> None:
    assert (judge(UNDER_WAY, [crashes(restarts)], diagnosis, after(seconds)).reason is not None) is failed


def test_a_change_of_which_each_start_is_overdue_has_failed_before_the_deadline() -> None:
    loads = a_pod(ready=False, containerStatuses=[{"name": "engine", "state": {"running": {}}}])
    late = Diagnosis(reason=Reason.STARTUP_TIMED_OUT, message="chat-1 has been loading for longer than 600 s")
    assert judge(UNDER_WAY, [loads], None, after(600)) == GOES_ON
    for diagnosis, told in ((None, late), (WRONG, WRONG)):
        verdict = judge(UNDER_WAY, [loads], diagnosis, after(600), late)
        assert (verdict.reason, verdict.message) == (told.reason, told.message)
    assert judge(UNDER_WAY, [loads, a_pod()], None, after(600), late) == GOES_ON


def test_it_says_when_to_look_again() -> None:
    assert judge(UNDER_WAY, [crashes(3)], WRONG, after(50)).again_seconds == pytest.approx(70)


def test_an_engine_that_has_started_at_last_crashes_no_more() -> None:
    started = crashes(4, started=True, state={"running": {}})
    assert judge(UNDER_WAY, [started], WRONG, after(9999)) == GOES_ON


def test_a_pod_that_does_not_say_how_old_it_is_is_given_time() -> None:
    pod = crashes(4)
    del pod["metadata"]["creationTimestamp"]
    assert judge(UNDER_WAY, [pod], WRONG, after(9999)).reason is None
