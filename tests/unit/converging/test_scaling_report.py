"""What the status says of the autoscaler, row by row, and what of it is news."""

from datetime import UTC, datetime
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.autoscaling.decision import Decision
from llmservice.converging.conditions import conditions_to_write
from llmservice.converging.pod_readings import PodReadings, ReadFailure, ReadFailureReason, Reading
from llmservice.converging.progress import progress_of
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.converging.scaling_report import (
    Finding,
    ScalingReport,
    finding_of,
    new_problem,
    report_in,
    report_of,
    suspended_report,
)
from llmservice.converging.situation import Situation
from llmservice.converging.status import stalled, summarize
from tests.unit.autoscaling.builders import counters
from tests.unit.converging.plans import a_deployment, a_plan, a_pod

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
AT = "2026-01-02T03:04:05Z"


def a_report(
    reason: Reason = Reason.LOAD_ROSE, replicas: int = 5, *, advise: bool = False, **finding: Any
) -> ScalingReport:
    decision = Decision(replicas=replicas, reason=reason, message="3 → 5: much load")
    values: dict[str, Any] = {"ready": 3, "unreadable": {}}
    return report_of(Finding(decision=decision, advise=advise, **values | finding), AT)


def gist(report: ScalingReport) -> dict[str, tuple[bool | None, str]]:
    return {str(item.type): (item.status, str(item.reason)) for item in report.conditions}


def timed_out(message: str = "no answer: see its log") -> ReadFailure:
    return ReadFailure(reason=ReadFailureReason.TIMED_OUT, message=message)


def refused(message: str = "HTTP 500: see its log") -> ReadFailure:
    return ReadFailure(reason=ReadFailureReason.REFUSED, message=message)


ONE_UNREAD = {"chat-2": timed_out()}
NONE_READ = {f"chat-{number}": timed_out() for number in range(3)}


@pytest.mark.parametrize(
    ("report", "active", "metrics"),
    [
        (a_report(), (True, "LoadRose"), (True, "MetricsRead")),
        (a_report(Reason.STEADY), (True, "Steady"), (True, "MetricsRead")),
        (a_report(advise=True), (False, "AdviseOnly"), (True, "MetricsRead")),
        (a_report(Reason.PODS_PENDING), (False, "PodsPending"), (True, "MetricsRead")),
        (a_report(Reason.SIGNAL_MISSING), (False, "SignalMissing"), (True, "MetricsRead")),
        (
            a_report(Reason.PARTIAL_READINGS, unreadable=ONE_UNREAD),
            (True, "PartialReadings"),
            (False, "PartialReadings"),
        ),
        (
            a_report(Reason.NO_FRESH_READINGS, unreadable=NONE_READ),
            (False, "NoFreshReadings"),
            (False, "NoFreshReadings"),
        ),
        (a_report(Reason.NO_FRESH_READINGS, ready=0), (False, "NoFreshReadings"), (False, "NoReplicaReady")),
    ],
)
def test_the_conditions_of_a_decision(
    report: ScalingReport, active: tuple[bool, str], metrics: tuple[bool, str]
) -> None:
    assert gist(report) == {"ScalingActive": active, "MetricsAvailable": metrics}


def test_the_status_has_the_number_under_the_name_that_says_whether_it_is_applied() -> None:
    assert a_report().as_status() == {
        "replicas": 5,
        "reason": "LoadRose",
        "message": "3 → 5: much load",
        "decidedAt": AT,
    }
    advice = a_report(advise=True).as_status()
    assert (advice["advisedReplicas"], "replicas" in advice) == (5, False)


def test_a_status_gives_back_its_report() -> None:
    report = a_report()
    status = {"autoscaling": report.as_status(), "conditions": conditions_to_write(report.conditions, (), 1, NOW)}
    assert report_in(status) == report


def test_a_status_without_a_decision_has_no_report() -> None:
    assert report_in({}) is report_in({"autoscaling": {}}) is None


def test_a_reason_of_a_newer_operator_is_passed_over() -> None:
    condition = {"type": "ScalingActive", "status": "True", "reason": "FromTheFuture", "message": "x"}
    report = report_in({"autoscaling": {"replicas": 2}, "conditions": [condition]})
    assert report is not None
    assert (report.replicas, report.conditions) == (2, ())


@pytest.mark.parametrize(
    ("one", "other", "news"),
    [
        (a_report(), a_report(Reason.STEADY), False),
        (a_report(), a_report(Reason.AT_MAXIMUM), True),
        (a_report(), a_report(Reason.PODS_PENDING), True),
        (a_report(unreadable=ONE_UNREAD), a_report(unreadable={"chat-1": timed_out("other")}), False),
        (a_report(unreadable=ONE_UNREAD), a_report(unreadable={"chat-2": refused()}), True),
        (a_report(unreadable=ONE_UNREAD), a_report(unreadable={**ONE_UNREAD, "chat-1": timed_out("other")}), False),
        (a_report(unreadable=ONE_UNREAD), a_report(unreadable={**ONE_UNREAD, "chat-3": refused()}), True),
        (a_report(ready=0), a_report(unreadable=NONE_READ), True),
        (a_report(), a_report(unreadable=ONE_UNREAD), True),
        (a_report(), a_report(advise=True), True),
    ],
)
def test_a_report_differs_by_conditions_and_read_failures(
    one: ScalingReport, other: ScalingReport, *, news: bool
) -> None:
    assert one.differs_from(other) is other.differs_from(one) is news


def test_each_reason_is_reported_with_one_pod_and_the_remedy() -> None:
    report = a_report(ready=4, unreadable={"chat-3": refused("HTTP 500"), "chat-1": timed_out("wait"), **ONE_UNREAD})
    (_, metrics) = report.conditions
    assert report.as_status()["readFailures"] == ["Refused", "TimedOut"]
    assert metrics.message.startswith("3 of 4 ")
    assert metrics.message.endswith("; chat-1: TimedOut: wait; chat-3: Refused: HTTP 500")


def test_the_finding_of_a_round_has_each_ready_pod_that_could_not_be_read() -> None:
    pods = [
        ScaledPod(name="chat-1", uid="1", phase=PodPhase.READY),
        ScaledPod(name="chat-2", uid="2", phase=PodPhase.READY),
        ScaledPod(name="chat-3", uid="3", phase=PodPhase.UNSCHEDULABLE, scheduler_message="no node has room"),
    ]
    readings: PodReadings = {"chat-1": Reading(counters=counters()), "chat-2": refused()}
    decision = Decision(replicas=2, reason=Reason.STEADY, message="")
    finding = finding_of(decision, pods, readings, advise=False)
    assert (finding.ready, finding.unreadable, finding.scheduler_messages) == (
        2,
        {"chat-2": refused()},
        ("no node has room",),
    )


def test_a_new_leader_finds_in_the_status_why_replicas_could_not_be_read() -> None:
    report = a_report(Reason.NO_FRESH_READINGS, unreadable=NONE_READ)
    status = {"autoscaling": report.as_status(), "conditions": conditions_to_write(report.conditions, (), 1, NOW)}
    found = report_in(status)
    assert found is not None
    assert not found.differs_from(report)
    assert found.differs_from(a_report(Reason.NO_FRESH_READINGS, unreadable=dict.fromkeys(NONE_READ, refused())))


def test_replicas_that_are_ready_and_unread_are_a_new_problem_after_none_was_ready() -> None:
    problem = new_problem(
        a_report(Reason.NO_FRESH_READINGS, ready=0),
        a_report(Reason.NO_FRESH_READINGS, unreadable=NONE_READ),
    )
    assert problem is not None
    assert (problem.reason, "see its log" in problem.message) == (Reason.NO_FRESH_READINGS, True)


def test_a_problem_is_new_once() -> None:
    pending = a_report(Reason.PODS_PENDING)
    problem = new_problem(a_report(), pending)
    assert problem is not None
    assert problem.reason is Reason.PODS_PENDING
    assert new_problem(pending, pending) is None


def test_advice_is_no_problem() -> None:
    assert new_problem(a_report(), a_report(advise=True)) is None


def test_suspension_keeps_what_was_decided() -> None:
    report = suspended_report(a_report())
    assert gist(report) == {"ScalingActive": (False, "Suspended")}
    assert report.replicas == 5


def summary(scaling: ScalingReport | None, before: dict[str, Any] | None = None) -> dict[str, Any]:
    pods = (a_pod(),)
    situation = Situation(
        plan=a_plan(),
        progress=progress_of(a_deployment(), pods),
        pods=pods,
        diagnosis=None,
        suspended=False,
        floor=1,
        before=before or {},
        scaling=scaling,
    )
    return summarize(situation, NOW)


def test_the_one_status_has_the_autoscalers_part_too() -> None:
    status = summary(a_report())
    assert status["autoscaling"]["replicas"] == 5
    assert [item["type"] for item in status["conditions"]] == [
        "Ready",
        "Available",
        "ScalingActive",
        "MetricsAvailable",
    ]


def test_without_autoscaling_the_status_says_nothing_of_it() -> None:
    status = summary(None, before=summary(a_report()))
    assert "autoscaling" not in status
    assert [item["type"] for item in status["conditions"]] == ["Ready", "Available"]


def test_a_stalled_resource_is_not_scaled_and_says_so() -> None:
    status = stalled(summary(a_report()), 3, Reason.INVALID_SPEC, "no; correct it", NOW, progress=progress_of(None, ()))
    shown = {item["type"]: (item["status"], item["reason"]) for item in status["conditions"]}
    assert shown["ScalingActive"] == ("False", "InvalidSpec")
    assert status["autoscaling"]["replicas"] == 5


def test_a_stalled_resource_that_was_never_scaled_says_nothing_of_it() -> None:
    status = stalled({}, 3, Reason.INVALID_SPEC, "no; correct it", NOW, progress=progress_of(None, ()))
    assert ConditionType.SCALING_ACTIVE not in {item["type"] for item in status["conditions"]}
