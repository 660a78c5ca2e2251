"""What every law has in common: missing readings, bounds, pending replicas, memories that are too old."""

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import ScalingPolicy
from llmservice.autoscaling.snapshot import Replica, Snapshot
from tests.unit.autoscaling.builders import (
    a_flow,
    a_policy,
    a_replica,
    a_silent_replica,
    a_snapshot,
    a_starting_replica,
    a_threshold_policy,
    after,
    followed,
    replicas_under,
)

BUSY = a_replica("busy", waiting=40.0)
IDLE = tuple(a_replica(f"idle-{number}", running=0.0, kv_use=0.0, flow=a_flow(0.0)) for number in range(3))


def test_holds_when_no_replica_was_read() -> None:
    decision, memory = decide(a_policy(), a_snapshot(a_silent_replica(), a_starting_replica()), Memory(), 0.0)
    assert (decision.replicas, decision.reason) == (2, Reason.NO_FRESH_READINGS)
    assert decision.message.startswith("2: ")
    assert memory == Memory()


def test_without_readings_the_bounds_still_hold() -> None:
    decision, _ = decide(a_policy(minimum=3), a_snapshot(a_silent_replica()), Memory(), 0.0)
    assert (decision.replicas, decision.reason) == (3, Reason.OUT_OF_BOUNDS)


def test_never_goes_down_while_a_replica_is_silent() -> None:
    snapshot = a_snapshot(*IDLE, a_silent_replica())
    decision, _ = after(a_threshold_policy(), [snapshot] * 60)
    assert (decision.replicas, decision.reason) == (4, Reason.PARTIAL_READINGS)
    assert "1 of 4 " in decision.message


def test_goes_up_while_a_replica_is_silent() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(BUSY, a_silent_replica())])
    assert decision.replicas == 6  # four more is the most in a minute


def test_asks_for_no_more_while_replicas_are_unschedulable() -> None:
    snapshot = a_snapshot(BUSY, a_starting_replica(), unschedulable=1)
    decision, _ = after(a_threshold_policy(), [snapshot])
    assert (decision.replicas, decision.reason) == (2, Reason.PODS_PENDING)
    assert "; 1 " in decision.message


def test_keeps_saying_that_replicas_are_unschedulable() -> None:
    members = (a_replica("busy", waiting=4.0), a_starting_replica())
    decision, _ = after(a_threshold_policy(minimum=2), [a_snapshot(*members, unschedulable=1)])
    assert (decision.replicas, decision.reason) == (2, Reason.PODS_PENDING)


@pytest.mark.parametrize(("running", "expected"), [(1, 2), (9, 5)])
def test_comes_back_into_the_bounds_at_once(running: int, expected: int) -> None:
    members = tuple(a_replica(f"chat-{number}") for number in range(running))
    decision, _ = after(a_threshold_policy(minimum=2, maximum=5), [a_snapshot(*members)])
    assert (decision.replicas, decision.reason) == (expected, Reason.OUT_OF_BOUNDS)


def test_says_that_the_maximum_is_reached() -> None:
    decision, _ = after(a_threshold_policy(maximum=1), [a_snapshot(BUSY)])
    assert (decision.replicas, decision.reason) == (1, Reason.AT_MAXIMUM)


def test_says_that_the_minimum_is_reached() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(IDLE[0])])
    assert (decision.replicas, decision.reason) == (1, Reason.AT_MINIMUM)


def test_a_new_memory_drops_nothing_for_one_window() -> None:
    decision, _ = after(a_policy(), [a_snapshot(*IDLE)] * 7)
    assert (decision.replicas, decision.reason) == (3, Reason.STABILIZING)


@pytest.mark.parametrize("jump", [-3600.0, 600.0])
def test_after_a_jump_of_the_clock_nothing_is_dropped_for_one_window(jump: float) -> None:
    policy = a_policy()
    _, memory = followed(policy, [20.0] * 60)
    now = (memory.at or 0.0) + jump
    for tick in range(7):
        decision, memory = decide(policy, a_snapshot(*replicas_under(20.0, 6)), memory, now + tick * 10.0)
        assert decision.replicas == 6


def test_after_a_jump_of_the_clock_it_comes_down_again() -> None:
    policy = a_policy()
    _, memory = followed(policy, [20.0] * 60)
    now, running = (memory.at or 0.0) - 3600.0, 6
    for tick in range(40):
        decision, memory = decide(policy, a_snapshot(*replicas_under(20.0, running)), memory, now + tick * 10.0)
        running = decision.replicas
    assert running < 6


def test_a_short_silence_does_not_interrupt_learning() -> None:
    policy, steady = a_policy(), a_snapshot(*replicas_under(40.0, 2))
    _, memory = after(policy, [steady] * 30)
    _, later = decide(policy, steady, memory, (memory.at or 0.0) + 50.0)
    assert len(later.demand.loads) == len(memory.demand.loads) + 1


def test_the_result_is_the_last_vote() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(BUSY)])
    assert (decision.trace[-1].step, decision.trace[-1].replicas) == ("result", float(decision.replicas))


def test_a_service_without_members_stays_as_it_is() -> None:
    decision, _ = decide(a_policy(), Snapshot(replicas=1, members=()), Memory(), 0.0)
    assert (decision.replicas, decision.reason) == (1, Reason.NO_FRESH_READINGS)


def test_one_below_its_bounds_is_told_of_them_and_not_of_readings() -> None:
    decision, _ = decide(a_policy(minimum=2), Snapshot(replicas=0, members=()), Memory(), 0.0)
    assert (decision.replicas, decision.reason) == (2, Reason.OUT_OF_BOUNDS)
    assert decision.message.startswith("0 → 2: bounds 2 to ")


@pytest.mark.parametrize(
    ("members", "reason"),
    [(IDLE[:2], Reason.AT_MINIMUM), ((BUSY, IDLE[0]), Reason.AT_MAXIMUM)],
    ids=["idle", "busy"],
)
@pytest.mark.parametrize("policy", [a_threshold_policy(minimum=2, maximum=2), a_policy(minimum=2, maximum=2)])
def test_where_both_bounds_are_one_number_it_says_which_of_them_holds(
    policy: ScalingPolicy, members: tuple[Replica, ...], reason: Reason
) -> None:
    assert after(policy, [a_snapshot(*members)])[0].reason is reason


def test_replicas_without_a_place_are_told_as_long_as_their_number_is_kept() -> None:
    policy, starting = a_threshold_policy(), a_starting_replica()
    high, low = (a_snapshot(a_replica("busy", waiting=load), starting, unschedulable=1) for load in (9.0, 1.0))
    memory = after(policy, [high])[1]
    for snapshot in (low, high, low):
        decision, memory = after(policy, [snapshot], memory)
        assert (decision.replicas, decision.reason) == (2, Reason.PODS_PENDING)
