"""When the status says something else: decisions at once, conditions confirmed, checkpoints rarely."""

from dataclasses import replace

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.autoscaling.memory import Demand, Memory
from llmservice.converging.conditions import Condition
from llmservice.converging.scaling_report import ScalingReport
from llmservice.reconcilers.scaling.status_throttle import StatusThrottle

MOVED = Memory(demand=Demand(cold_starts=(300,)))


def a_report(replicas: int = 3, *, read: bool = True, message: str = "", cause: str = "") -> ScalingReport:
    condition = Condition(
        type=ConditionType.METRICS_AVAILABLE,
        status=read,
        reason=Reason.METRICS_READ if read else Reason.NO_FRESH_READINGS,
        message=f"1 of 1 ready replicas cannot be read; chat-1: {cause}: wait" if cause else "",
    )
    return ScalingReport(replicas=replicas, message=message, conditions=(condition,))


def told(report: ScalingReport) -> StatusThrottle:
    return StatusThrottle(told=report, saved=Memory(), saved_at=0.0)


def take(telling: StatusThrottle, report: ScalingReport, now: float = 10.0) -> bool:
    """Whether it was news; then it is told."""
    news = telling.is_news(report, now)
    if news:
        telling.tell(report, "digest", Memory(), now)
    return news


def test_the_first_report_is_news() -> None:
    assert take(StatusThrottle(told=None, saved=Memory(), saved_at=0.0), a_report())


def test_another_number_is_news_at_once() -> None:
    assert take(told(a_report(3)), a_report(5))


def test_another_sentence_is_none() -> None:
    assert not take(told(a_report(message="3: calm")), a_report(message="3: calmer"))


def test_another_condition_is_news_by_the_second_look_in_a_row() -> None:
    telling = told(a_report())
    assert [take(telling, a_report(read=False)) for _ in range(3)] == [False, True, False]


def test_another_cause_is_news_by_the_second_look_in_a_row() -> None:
    telling = told(a_report(read=False, cause="Unreachable"))
    assert [take(telling, a_report(read=False, cause="Unauthorized")) for _ in range(3)] == [False, True, False]


def test_causes_that_alternate_are_told_four_times_in_twenty_minutes() -> None:
    telling, causes = told(a_report(read=False, cause="TimedOut")), ("TimedOut", "Unreachable")
    reports = [a_report(read=False, cause=causes[now // 20 % 2]) for now in range(0, 1200, 10)]
    assert sum(take(telling, report, 10.0 * number) for number, report in enumerate(reports)) == 4


def test_looks_in_between_begin_the_count_anew() -> None:
    telling = told(a_report())
    assert [take(telling, a_report(read=read)) for read in (False, True, False, True)] == [False] * 4


def test_a_condition_that_flaps_is_told_four_times_in_twenty_minutes() -> None:
    telling = told(a_report())
    told_at = [now for now in range(0, 3600, 10) if take(telling, a_report(read=bool(now // 20 % 2)), float(now))]
    assert len([at for at in told_at if at < 1200]) == 4
    assert len(told_at) <= 12


def test_a_flapping_condition_does_not_keep_a_decision_back() -> None:
    telling = told(a_report())
    for now in range(0, 600, 10):
        take(telling, a_report(read=bool(now // 20 % 2)), float(now))
    assert take(telling, a_report(replicas=4), 600.0)


def test_a_checkpoint_is_saved_after_ten_minutes_if_it_moved() -> None:
    telling = told(a_report())
    assert telling.save("digest", MOVED, 590.0) is None
    assert telling.save("digest", Memory(), 610.0) is None
    saved = telling.save("digest", MOVED, 620.0)
    assert saved is not None
    assert replace(saved, checkpoint="") == a_report()
    assert saved.checkpoint.startswith("digest/")
    assert telling.save("digest", MOVED, 630.0) is None
