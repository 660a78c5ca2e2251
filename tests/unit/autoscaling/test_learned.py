"""The Learned law as a whole: what it learns, what it asks for, what it says."""

import dataclasses

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import LinePoint, Memory
from llmservice.autoscaling.policy import Objective, Reserve, ScalingPolicy
from tests.unit.autoscaling.builders import (
    a_flow,
    a_policy,
    a_replica,
    a_snapshot,
    a_starting_replica,
    after,
    followed,
    replicas_under,
)


def settled(requests: float, policy: ScalingPolicy | None = None) -> tuple[list[int], Memory]:
    """What was decided under this steady load for half an hour, and what is known then."""
    return followed(policy or a_policy(), [requests] * 180)


def surprised(requests: float, **changes: object) -> Decision:
    """The decision after half a minute of a load far above what two replicas were used to."""
    decided, memory = settled(60.0)
    members = replicas_under(requests, decided[-1])
    return after(a_policy(), [a_snapshot(*members, **changes)] * 3, memory)[0]


def test_follows_the_load_up_and_down() -> None:
    decided, _ = followed(a_policy(), [*[40.0] * 240, *[300.0] * 60, *[40.0] * 240])
    assert decided[239] < decided[299] > decided[539]
    assert decided[239] == decided[539]


def test_keeps_a_spare_replica_for_half_an_hour_and_no_longer() -> None:
    decided, memory = settled(1000.0)
    spare = a_snapshot(*replicas_under(1000.0, decided[-1] + 1))
    memory = dataclasses.replace(memory, at=None)  # a restart: the spare one counts as wanted
    kept = 0
    while (step := after(a_policy(), [spare], memory))[0].replicas == spare.replicas and kept < 400:
        memory, kept = step[1], kept + 1
    assert 180 <= kept <= 200


def test_says_it_with_numbers() -> None:
    decision = surprised(400.0)
    assert decision.reason is Reason.LOAD_ROSE
    assert f"→ {decision.replicas}: 48.0k tokens/s now, " in decision.message
    assert " in 130 s; one replica holds " in decision.message
    assert "k within the objective; load " in decision.message
    assert " + reserve " in decision.message


def test_prompts_that_the_prefix_cache_holds_in_full_are_decided_on() -> None:
    cached = a_flow(80.0, prompt_tokens=0.0, finished_prompt_tokens=0.0)
    decision, _ = after(a_policy(), [a_snapshot(a_replica(flow=cached))] * 12)
    assert "one replica holds " in decision.message


def test_every_step_casts_its_vote() -> None:
    steps = ["capacity line", "forecast", "now", "reserve", "burst floor", "queue saturation", "hold", "result"]
    assert [vote.step for vote in surprised(400.0).trace] == steps


def test_starting_replicas_are_already_counted() -> None:
    decided, memory = settled(60.0)
    busy, wanted = replicas_under(400.0, decided[-1]), surprised(400.0).replicas
    starting = tuple(a_starting_replica(f"start-{number}") for number in range(wanted - decided[-1]))
    decision, _ = after(a_policy(), [a_snapshot(*busy), *[a_snapshot(*busy, *starting)] * 2], memory)
    assert decision.replicas == wanted


@pytest.mark.parametrize(
    ("cautious", "bold"),
    [
        (a_policy(reserve=Reserve.SAFE), a_policy(reserve=Reserve.ECONOMY)),
        (a_policy(objective=Objective(tpot_seconds=0.025)), a_policy()),
    ],
)
def test_more_caution_means_more_replicas(cautious: ScalingPolicy, bold: ScalingPolicy) -> None:
    assert settled(300.0, cautious)[0][-1] > settled(300.0, bold)[0][-1]


def test_requests_over_the_objective_raise_the_number() -> None:
    def after_half_an_hour(tpot_violations: float) -> int:
        members = tuple(
            a_replica(f"chat-{number}", flow=a_flow(80.0, tpot_violations=tpot_violations)) for number in range(3)
        )
        return after(a_policy(), [a_snapshot(*members)] * 180)[0].replicas

    assert after_half_an_hour(8.0) > after_half_an_hour(0.0)


def test_a_queue_that_outlasts_a_cold_start_adds_a_replica() -> None:
    _, memory = settled(60.0)
    usual, saturated = (
        after(a_policy(), [a_snapshot(*replicas_under(60.0, 2, waiting=waiting))], memory)[0] for waiting in (0.0, 3e3)
    )
    assert saturated.replicas == usual.replicas + 2
    assert "2.0 replicas busy with their own queue" in saturated.message


def test_on_off_traffic_keeps_what_it_needs_when_on() -> None:
    burst = [*[500.0] * 6, *[5.0] * 24]
    decided, memory = followed(a_policy(), burst * 14)
    quiet, _ = followed(a_policy(), [5.0] * 60)
    assert min(decided[-30:]) > quiet[-1]
    assert memory.demand.error > 0.4 * sum(memory.demand.half_minutes) / 120


def test_a_load_that_swings_around_a_whole_number_changes_nothing() -> None:
    low, high = 100.0, 900.0
    while high - low > 4.0:
        middle = (low + high) / 2
        low, high = (low, middle) if settled(low)[0][-1] != settled(middle)[0][-1] else (middle, high)
    decided, _ = followed(a_policy(), [(low, high)[tick // 6 % 2] for tick in range(240)])
    assert settled(low)[0][-1] < settled(high)[0][-1]
    assert len(set(decided[60:])) == 1


def test_the_first_reading_decides_by_concurrency() -> None:
    decision, memory = after(a_policy(), [a_snapshot(a_replica(flow=a_flow(0.0)))])
    assert "nothing is learnt yet" in decision.message
    assert memory.demand.loads == ()


def test_what_was_ordered_before_anything_was_learnt_is_kept_for_one_window() -> None:
    """150 requests asked for ten replicas; the first reading that teaches says that one would do."""
    policy, memory, running = a_policy(roofline=None), Memory(), 1
    decided = list[int]()
    for load in (0.0, 0.0, 0.0, 30.0, 36.0, 45.0, 52.0, 60.0, 60.0, 60.0, 60.0, 60.0):
        busy = a_replica(flow=a_flow(load), running=150.0)
        starting = (a_starting_replica(f"start-{number}") for number in range(running - 1))
        decision, memory = after(policy, [a_snapshot(busy, *starting)], memory)
        running = decision.replicas
        decided.append(running)
    assert decided[:11] == [10] * 11
    assert decided[11] < 10


MEASURED = (LinePoint(1000.0, 95.0, 1.0), LinePoint(4000.0, 60.0, 1.0), LinePoint(9000.0, 20.0, 1.0))


def first_with_sizes(policy: ScalingPolicy) -> Decision:
    """The second decision of a new service under much load: the first at which its requests are known."""
    return after(policy, [a_snapshot(*replicas_under(300.0, 1))] * 2)[0]


def test_a_new_service_starts_from_what_a_bench_measured_and_says_so() -> None:
    without = first_with_sizes(a_policy(roofline=None))
    told = first_with_sizes(a_policy(roofline=None, measured=MEASURED))
    assert "spec.autoscaling.profile" not in without.message
    assert "within the objective by spec.autoscaling.profile" in told.message


def test_what_the_engine_reports_takes_the_place_of_the_bench() -> None:
    policy = a_policy(roofline=None, measured=MEASURED)
    _, memory = followed(policy, [40.0 + 40 * (minute % 8) for minute in range(180)])
    told = after(policy, [a_snapshot(*replicas_under(300.0, 2))], memory)[0]
    assert "spec.autoscaling.profile" not in told.message
