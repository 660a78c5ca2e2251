"""The condition table of `summarize`, row by row; kstatus in every row."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.events import transition_event
from llmservice.converging.progress import progress_of
from llmservice.converging.readiness import seconds_to_pass
from llmservice.converging.situation import Situation
from llmservice.converging.status import stalled, summarize
from tests.unit.converging.plans import a_deployment, a_plan, a_pod

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = datetime(2026, 1, 2, 3, 9, 5, tzinfo=UTC)
LATE = [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]
PULL = Diagnosis(reason=Reason.IMAGE_PULL_FAILED, message="image-message")
IDLE = Condition(
    type=ConditionType.ACCELERATOR_IN_USE, status=False, reason=Reason.ACCELERATOR_NOT_USED, message="idle-message"
)
SILENT = dataclasses.replace(IDLE, status=None, reason=Reason.ACCELERATOR_NOT_REPORTED)
CLAIM = Diagnosis(reason=Reason.CLAIM_NOT_FOUND, message="claim-message", self_healing=True)


def a_status(
    deployment: dict[str, Any] | None, pods: tuple[Any, ...] = (), now: datetime = NOW, **changes: Any
) -> dict[str, Any]:
    defaults: dict[str, Any] = {"diagnosis": None, "suspended": False, "floor": 1, "before": {}}
    progress = progress_of(deployment, pods)
    defaults["plan"] = a_plan()
    return summarize(Situation(progress=progress, pods=pods, **{**defaults, **changes}), now)


def shown(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {item["type"]: (item["status"], item["reason"]) for item in status["conditions"]}


READY = a_status(a_deployment(), (a_pod(),))


@pytest.mark.parametrize(
    ("since", "reason", "is_event", "again"),
    [
        ("2026-01-02T03:04:01Z", "Starting", False, 6.0),
        ("2026-01-02T03:03:55Z", "ClaimNotFound", True, 0.0),
        ("2026-01-02T03:05:00Z", "ClaimNotFound", True, 0.0),
        ("", "ClaimNotFound", True, 0.0),
    ],
    ids=["a moment ago", "for a while", "by another clock", "at an unknown time"],
)
def test_what_may_be_part_of_a_normal_start_is_named_at_once_and_is_no_event_yet(
    since: str, reason: str, is_event: bool, again: float
) -> None:
    claim = dataclasses.replace(CLAIM, since=since)
    status = a_status(a_deployment(), (a_pod(ready=False),), diagnosis=claim)
    assert (shown(status)["Ready"], seconds_to_pass(claim, NOW)) == (("False", reason), again)
    assert CLAIM.message in {item["message"] for item in status["conditions"]}
    assert (transition_event(RESOURCE, {}, status, NOW) is not None) == is_event


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (READY, {"Ready": ("True", "Ready"), "Available": ("True", "Ready")}),
        (
            a_status(None),
            {
                "Ready": ("False", "Progressing"),
                "Available": ("False", "Progressing"),
                "Reconciling": ("True", "Progressing"),
            },
        ),
        (
            a_status(a_deployment(), (a_pod(ready=False),), diagnosis=PULL),
            {
                "Ready": ("False", "ImagePullFailed"),
                "Available": ("False", "ImagePullFailed"),
                "Reconciling": ("True", "ImagePullFailed"),
            },
        ),
        (
            a_status(a_deployment(conditions=LATE), (a_pod(ready=False),), diagnosis=PULL),
            {
                "Ready": ("False", "ImagePullFailed"),
                "Available": ("False", "ImagePullFailed"),
                "Stalled": ("True", "ImagePullFailed"),
            },
        ),
        (
            a_status(a_deployment(conditions=LATE), (a_pod(ready=False),), diagnosis=CLAIM),
            {
                "Ready": ("False", "ClaimNotFound"),
                "Available": ("False", "ClaimNotFound"),
                "Reconciling": ("True", "ClaimNotFound"),
            },
        ),
        (
            a_status(a_deployment(2, total=2, updated=1), (a_pod(), a_pod("b")), floor=2),
            {"Ready": ("False", "Progressing"), "Available": ("True", "Ready"), "Reconciling": ("True", "Progressing")},
        ),
        (
            a_status(a_deployment(), (a_pod(ready=False),), diagnosis=PULL, before=READY),
            {"Ready": ("False", "ImagePullFailed"), "Available": ("False", "ImagePullFailed")},
        ),
        (
            a_status(a_deployment(0), suspended=True),
            {"Ready": ("True", "Suspended"), "Available": ("False", "Suspended")},
        ),
        (
            a_status(a_deployment(0, total=1), (a_pod(),), suspended=True),
            {"Ready": ("False", "Progressing"), "Available": ("True", "Ready"), "Reconciling": ("True", "Progressing")},
        ),
        (
            a_status(a_deployment(0), floor=0),
            {"Ready": ("True", "ScaledToZero"), "Available": ("False", "ScaledToZero")},
        ),
        (
            a_status(a_deployment(5, total=3), (a_pod("a"), a_pod("b"), a_pod("c")), floor=1),
            {"Ready": ("True", "Ready"), "Available": ("True", "Ready")},
        ),
        (
            a_status(a_deployment(), (a_pod(),), accelerator=IDLE),
            {
                "Ready": ("False", "AcceleratorNotUsed"),
                "Available": ("True", "Ready"),
                "Stalled": ("True", "AcceleratorNotUsed"),
                "AcceleratorInUse": ("False", "AcceleratorNotUsed"),
            },
        ),
        (
            a_status(a_deployment(), (a_pod(),), accelerator=IDLE, before=READY),
            {
                "Ready": ("False", "AcceleratorNotUsed"),
                "Available": ("True", "Ready"),
                "AcceleratorInUse": ("False", "AcceleratorNotUsed"),
            },
        ),
        (
            a_status(a_deployment(), (a_pod(),), accelerator=IDLE, plan=a_plan(verify_devices=False)),
            {
                "Ready": ("True", "Ready"),
                "Available": ("True", "Ready"),
                "AcceleratorInUse": ("False", "AcceleratorNotUsed"),
            },
        ),
        (
            a_status(a_deployment(), (a_pod(),), accelerator=SILENT),
            {
                "Ready": ("True", "Ready"),
                "Available": ("True", "Ready"),
                "AcceleratorInUse": ("Unknown", "AcceleratorNotReported"),
            },
        ),
        (
            a_status(a_deployment(2, updated=1), (a_pod(),), accelerator=IDLE, floor=2),
            {
                "Ready": ("False", "Progressing"),
                "Available": ("True", "Ready"),
                "Reconciling": ("True", "Progressing"),
                "AcceleratorInUse": ("False", "AcceleratorNotUsed"),
            },
        ),
    ],
)
def test_conditions_follow_the_table(status: dict[str, Any], expected: dict[str, tuple[str, str]]) -> None:
    assert shown(status) == expected


@pytest.mark.parametrize(
    ("metadata", "reason"), [({}, "Suspended"), ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "Progressing")]
)
def test_a_suspension_waits_for_pods_that_go_and_not_for_those_that_stay_on(
    metadata: dict[str, str], reason: str
) -> None:
    pod = a_pod(ready=False, phase="Failed", reason="Evicted")
    pod["metadata"] |= metadata
    assert shown(a_status(a_deployment(0), (pod,), suspended=True))["Ready"][1] == reason


def test_a_deployment_whose_controller_has_not_seen_the_spec_is_not_ready() -> None:
    assert shown(a_status(a_deployment(observedGeneration=2), (a_pod(),)))["Ready"] == ("False", "Progressing")


@pytest.mark.parametrize(
    ("state", "reason"), [({"running": {}}, "Loading"), ({"waiting": {"reason": "ContainerCreating"}}, "Starting")]
)
def test_without_a_diagnosis_the_reason_says_what_is_pending(state: dict[str, Any], reason: str) -> None:
    pod = a_pod(ready=False, containerStatuses=[{"name": "engine", "state": state}])
    assert shown(a_status(a_deployment(), (pod,)))["Ready"] == ("False", reason)


def test_the_counts_and_addresses_are_what_people_look_for() -> None:
    expected = {
        "replicas": 1,
        "readyReplicas": 1,
        "desiredReplicas": 1,
        "replicaSummary": "1/1",
        "selector": "llmservice.dev/name=chat",
        "url": "http://chat.ml.svc/v1",
        "models": ["chat"],
        "observedGeneration": 2,
    }
    assert {key: READY[key] for key in expected} == expected


def test_the_same_state_gives_the_same_status_at_another_time() -> None:
    assert a_status(a_deployment(), (a_pod(),), now=LATER, before=READY) == READY


def test_transition_times_move_only_with_the_status() -> None:
    later = a_status(a_deployment(), (a_pod(ready=False),), now=LATER, diagnosis=PULL, before=READY)
    times = {item["type"]: item["lastTransitionTime"] for item in later["conditions"]}
    assert times["Ready"] == "2026-01-02T03:09:05Z"
    worse = a_status(a_deployment(), (a_pod(ready=False),), now=LATER, diagnosis=CLAIM, before=later)
    assert worse["conditions"][0]["lastTransitionTime"] == "2026-01-02T03:09:05Z"


def test_what_the_engine_reported_stands_in_the_status() -> None:
    start = {"backend": "cuda", "starts": ["0123456789ab"]}
    status = a_status(a_deployment(), (a_pod(),), start=start)
    assert status["start"] == start
    assert "start" not in a_status(a_deployment(), (a_pod(),), before=status)


def test_a_stalled_resource_keeps_its_plan_and_what_serves() -> None:
    progress = progress_of(a_deployment(), (a_pod(),))
    status = stalled(READY, 3, Reason.INVALID_SPEC, "spec.x: wrong", NOW, progress=progress)
    assert shown(status) == {
        "Ready": ("False", "InvalidSpec"),
        "Available": ("True", "Ready"),
        "Stalled": ("True", "InvalidSpec"),
    }
    assert (status["plan"], status["observedGeneration"], status["url"]) == (READY["plan"], 3, READY["url"])


RESOURCE = {
    "apiVersion": "llmservice.dev/v1alpha1",
    "kind": "LLMService",
    "metadata": {"name": "chat", "namespace": "ml", "uid": "u-1"},
}


@pytest.mark.parametrize("passes", [True, False])
def test_while_something_is_waited_for_what_is_told_of_replicas_and_scaling_stays(passes: bool) -> None:
    active = {"type": "ScalingActive", "status": "True", "reason": "Learned", "message": "x", "observedGeneration": 2}
    before = a_status(a_deployment(), (a_pod(),), accelerator=SILENT)
    before = {**before, "conditions": [*before["conditions"], active]}
    status = stalled(before, 3, Reason.INSPECTING, "m", LATER, progress=None, passes=passes)
    kept = [item["type"] for item in status["conditions"] if item in before["conditions"]]
    assert kept == (["AcceleratorInUse", "ScalingActive"] if passes else [])
    again = stalled(status, 3, Reason.INSPECTING, "m", LATER, progress=None, passes=passes)
    assert again == status


def test_a_transition_becomes_an_event_with_the_words_of_the_condition() -> None:
    event = transition_event(RESOURCE, {}, READY, NOW)
    assert event is not None
    (ready,) = (item for item in READY["conditions"] if item["type"] == "Ready")
    assert (event["type"], event["reason"], event["message"]) == ("Normal", "Ready", ready["message"])
    assert READY["url"] in event["message"]


def test_a_diagnosis_becomes_a_warning_once() -> None:
    failing = a_status(a_deployment(), (a_pod(ready=False),), diagnosis=PULL)
    event = transition_event(RESOURCE, READY, failing, NOW)
    assert event is not None
    assert (event["type"], event["reason"]) == ("Warning", "ImagePullFailed")
    assert transition_event(RESOURCE, failing, failing, LATER) is None


def test_what_every_start_goes_through_is_no_event() -> None:
    assert transition_event(RESOURCE, {}, a_status(None), NOW) is None
    inspecting = stalled({}, 3, Reason.INSPECTING, "m", NOW, progress=None, passes=True)
    assert transition_event(RESOURCE, {}, inspecting, NOW) is None
