"""When the status says something else: decisions at once, conditions confirmed, checkpoints rarely."""

from dataclasses import replace

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.autoscaling.memory import Demand, Memory
from llmservice.converging.conditions import Condition
from llmservice.converging.scaling_report import ScalingReport
from llmservice.reconcilers.scaling.status_throttle import StatusThrottle

MOVED = Memory(demand=Demand(cold_starts=(300,)))


def a_report(replicas: int = 3, *, read: bool = True, message: str = "", failure: str = "") -> ScalingReport:
    condition = Condition(
        type=ConditionType.METRICS_AVAILABLE,
        status=read,
        reason=Reason.METRICS_READ if read else Reason.NO_FRESH_READINGS,
        message=message,
    )
    failures = (failure,) if failure else ()
    return ScalingReport(replicas=replicas, message=message, read_failures=failures, conditions=(condition,))


def after_reporting(report: ScalingReport) -> StatusThrottle:
    return StatusThrottle(reported=report, saved=Memory(), saved_at=0.0)


def take(throttle: StatusThrottle, report: ScalingReport, now: float = 10.0) -> bool:
    """Whether it was due; then it is recorded."""
    due = throttle.is_due(report, now)
    if due:
        throttle.record(report, "digest", Memory(), now)
    return due


def test_the_first_report_is_due() -> None:
    assert take(StatusThrottle(reported=None, saved=Memory(), saved_at=0.0), a_report())


def test_another_number_is_due_at_once() -> None:
    assert take(after_reporting(a_report(3)), a_report(5))


def test_another_message_is_never_due() -> None:
    assert not take(after_reporting(a_report(message="3: calm")), a_report(message="3: calmer"))


def test_another_condition_is_due_by_the_second_round_in_a_row() -> None:
    throttle = after_reporting(a_report())
    assert [take(throttle, a_report(read=False)) for _ in range(3)] == [False, True, False]


def test_another_read_failure_is_due_by_the_second_round_in_a_row() -> None:
    throttle = after_reporting(a_report(read=False, failure="Unreachable"))
    assert [take(throttle, a_report(read=False, failure="Unauthorized")) for _ in range(3)] == [False, True, False]


def test_read_failures_that_alternate_are_reported_four_times_in_twenty_minutes() -> None:
    throttle, failures = after_reporting(a_report(read=False, failure="TimedOut")), ("TimedOut", "Unreachable")
    reports = [a_report(read=False, failure=failures[now // 20 % 2]) for now in range(0, 1200, 10)]
    assert sum(take(throttle, report, 10.0 * number) for number, report in enumerate(reports)) == 4


def test_rounds_in_between_begin_the_count_anew() -> None:
    throttle = after_reporting(a_report())
    assert [take(throttle, a_report(read=read)) for read in (False, True, False, True)] == [False] * 4


def test_a_condition_that_flaps_is_reported_four_times_in_twenty_minutes() -> None:
    throttle = after_reporting(a_report())
    reported_at = [now for now in range(0, 3600, 10) if take(throttle, a_report(read=bool(now // 20 % 2)), float(now))]
    assert len([at for at in reported_at if at < 1200]) == 4
    assert len(reported_at) <= 12


def test_a_flapping_condition_does_not_keep_a_decision_back() -> None:
    throttle = after_reporting(a_report())
    for now in range(0, 600, 10):
        take(throttle, a_report(read=bool(now // 20 % 2)), float(now))
    assert take(throttle, a_report(replicas=4), 600.0)


def test_a_checkpoint_is_renewed_after_ten_minutes_if_it_moved() -> None:
    throttle = after_reporting(a_report())
    assert not throttle.renew_checkpoint("digest", MOVED, 590.0)
    assert not throttle.renew_checkpoint("digest", Memory(), 610.0)
    assert throttle.renew_checkpoint("digest", MOVED, 620.0)
    assert throttle.reported is not None
    assert replace(throttle.reported, checkpoint="") == a_report()
    assert throttle.reported.checkpoint.startswith("digest/")
    assert not throttle.renew_checkpoint("digest", MOVED, 630.0)
