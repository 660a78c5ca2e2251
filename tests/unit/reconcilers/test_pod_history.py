"""Readings of pods become what the pods did between two rounds; what cannot be known stays unknown."""

from typing import Any

from llmservice.autoscaling.policy import Objective
from llmservice.autoscaling.snapshot import Phase, Snapshot
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.reconcilers.scaling.pod_history import PodHistory
from tests.unit.autoscaling.builders import counters

UNREADABLE = ReadFailure(reason=ReadFailureReason.TIMED_OUT, message="no answer: see its log")


def a_pod(name: str = "a", phase: PodPhase = PodPhase.READY, **changes: Any) -> ScaledPod:
    return ScaledPod(name=name, uid=f"u-{name}", phase=phase, **changes)


def starting(name: str = "a", **changes: Any) -> ScaledPod:
    return a_pod(name, PodPhase.STARTING, **changes)


def a_reading(at: float, tokens: float, **changes: Any) -> Reading:
    return Reading(counters=counters(at, generated_tokens=tokens), **changes)


def a_round(history: PodHistory, now: float, pod: ScaledPod, reading: Reading | ReadFailure | None = None) -> Snapshot:
    readings = {} if reading is None else {pod.name: reading}
    return history.snapshot([pod], readings, 1, Objective(), now)


def rate(snapshot: Snapshot) -> float | None:
    """Tokens per second of the only pod, as far as they are known."""
    (flow,) = [member.flow for member in snapshot.members]
    return None if flow is None else flow.tokens_per_second


def test_two_readings_make_a_flow() -> None:
    history = PodHistory()
    assert rate(a_round(history, 10, a_pod(), a_reading(10, 500))) is None
    assert rate(a_round(history, 20, a_pod(), a_reading(20, 800))) == 30


def test_a_pod_that_was_seen_starting_had_done_nothing() -> None:
    history = PodHistory()
    a_round(history, 10, starting())
    assert rate(a_round(history, 20, a_pod(), a_reading(20, 800))) == 80


def test_so_had_one_that_came_between_two_rounds() -> None:
    history = PodHistory()
    a_round(history, 10, a_pod("other"), a_reading(10, 0))
    assert rate(a_round(history, 20, a_pod(), a_reading(20, 800))) == 80


def test_the_same_sample_twice_keeps_its_flow() -> None:
    """A Prometheus that scrapes every 30 s is asked three times for each sample."""
    history = PodHistory()
    a_round(history, 10, a_pod(), a_reading(10, 500))
    a_round(history, 20, a_pod(), a_reading(20, 800))
    assert rate(a_round(history, 30, a_pod(), a_reading(20, 800))) == 30


def test_an_engine_that_was_started_again_has_no_flow_until_it_was_read_twice() -> None:
    history = PodHistory()
    a_round(history, 10, a_pod(), a_reading(10, 500))
    again = a_pod(restarts=1)
    assert rate(a_round(history, 20, again, a_reading(20, 900))) is None
    assert rate(a_round(history, 30, again, a_reading(30, 1000))) == 10


def test_a_pod_that_was_not_ready_for_a_while_goes_on_from_where_it_was() -> None:
    history = PodHistory()
    a_round(history, 10, a_pod(), a_reading(10, 500))
    a_round(history, 20, starting())
    assert rate(a_round(history, 30, a_pod(), a_reading(30, 900))) == 20


def test_an_unreadable_pod_takes_requests_of_which_nothing_is_known() -> None:
    history = PodHistory()
    snapshot = a_round(history, 10, a_pod(), UNREADABLE)
    assert [member.phase for member in snapshot.members] == [Phase.UNREADABLE]
    assert [member.phase for member in a_round(history, 20, a_pod()).members] == [Phase.UNREADABLE]


def test_after_a_failed_reading_the_whole_time_counts() -> None:
    history = PodHistory()
    a_round(history, 10, a_pod(), a_reading(10, 500))
    a_round(history, 20, a_pod(), UNREADABLE)
    assert rate(a_round(history, 30, a_pod(), a_reading(30, 900))) == 20


TIMES: dict[str, Any] = {"created_at": "2026-01-01T00:00:00Z", "ready_at": "2026-01-01T00:01:30Z"}


def test_a_cold_start_is_measured_once() -> None:
    history = PodHistory()
    a_round(history, 10, starting(**TIMES))
    assert a_round(history, 20, a_pod(**TIMES), UNREADABLE).cold_starts == (90.0,)
    assert a_round(history, 30, a_pod(**TIMES), UNREADABLE).cold_starts == ()


def test_a_pod_that_becomes_ready_again_was_no_cold_start() -> None:
    history = PodHistory()
    for now, pod in ((10, starting(**TIMES)), (20, a_pod(**TIMES)), (30, starting(**TIMES))):
        a_round(history, now, pod)
    assert a_round(history, 40, a_pod(**TIMES)).cold_starts == ()


def test_the_first_round_of_a_term_measures_no_cold_start() -> None:
    assert a_round(PodHistory(), 10, a_pod(**TIMES)).cold_starts == ()


def test_unschedulable_pods_are_starting_and_counted() -> None:
    snapshot = a_round(PodHistory(), 10, a_pod(phase=PodPhase.UNSCHEDULABLE))
    assert (snapshot.starting, snapshot.unschedulable) == (1, 1)


def test_what_was_known_of_a_pod_goes_with_it() -> None:
    history = PodHistory()
    a_round(history, 10, a_pod("a"), a_reading(10, 500))
    a_round(history, 20, a_pod("b"), a_reading(20, 0))
    assert rate(a_round(history, 30, a_pod("a"), a_reading(30, 100))) == 10


def test_a_pod_that_the_first_round_finds_unready_after_it_has_served_is_not_taken_for_new() -> None:
    """A new leader begins while a node is not ready for a moment."""
    history = PodHistory()
    a_round(history, 10, starting(**TIMES, has_served=True))
    a_round(history, 20, starting(**TIMES, has_served=True))
    again = a_round(history, 30, a_pod(**TIMES), a_reading(30, 1e6))
    assert (rate(again), again.cold_starts) == (None, ())
    assert rate(a_round(history, 40, a_pod(**TIMES), a_reading(40, 1e6 + 200))) == 20


def test_a_pod_that_the_first_round_finds_loading_had_done_nothing() -> None:
    history = PodHistory()
    a_round(history, 10, starting(**TIMES))
    new = a_round(history, 20, a_pod(**TIMES), a_reading(20, 800))
    assert (rate(new), new.cold_starts) == (80, (90.0,))


def test_a_pod_that_was_ready_only_between_two_rounds_is_no_cold_start_later() -> None:
    history = PodHistory()
    a_round(history, 10, starting(**TIMES))
    a_round(history, 20, starting(**TIMES, has_served=True))
    later = a_round(history, 60, a_pod(**TIMES), a_reading(60, 500))
    assert (rate(later), later.cold_starts) == (10, ())


def test_a_pod_that_waits_for_the_room_of_another_is_unschedulable_once_that_one_is_stuck() -> None:
    waiting = a_pod(phase=PodPhase.UNSCHEDULABLE, room_freed_by="1970-01-01T00:10:00Z")
    assert a_round(PodHistory(), 700, waiting).unschedulable == 0
    assert a_round(PodHistory(), 800, waiting).unschedulable == 1
