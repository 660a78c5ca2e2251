"""What holds for every load, every pod order, every gap in the data."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from llmservice.autoscaling.checkpoint import MAX_CHARACTERS, decoded, encoded
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.demand import cold_start_seconds
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.policy import Reserve, ScalingPolicy
from llmservice.autoscaling.snapshot import Replica, Snapshot
from llmservice.autoscaling.stabilization import stabilization_window_seconds
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

LAWS = st.sampled_from([a_policy(), a_policy(reserve=Reserve.SAFE, roofline=None), a_threshold_policy()])
LOADS = st.lists(st.floats(min_value=0.0, max_value=400.0), min_size=1, max_size=60)
FEW = settings(max_examples=60, deadline=None)


@st.composite
def snapshots(draw: st.DrawFn, *, silent: bool = True) -> Snapshot:
    """Any service: ready replicas under any load, starting and silent ones."""
    count = draw(st.integers(0, 5))
    members: list[Replica] = [
        a_replica(
            f"chat-{number}",
            flow=a_flow(
                draw(st.floats(0, 120)), arrived=draw(st.floats(-5, 300)), tpot_violations=draw(st.floats(0, 20))
            ),
            running=draw(st.floats(0, 256)),
            waiting=draw(st.floats(0, 500)),
            kv_use=draw(st.none() | st.floats(0, 1)),
        )
        for number in range(count)
    ]
    members += [a_starting_replica(f"start-{number}") for number in range(draw(st.integers(0, 2)))]
    members += [a_silent_replica(f"silent-{number}") for number in range(draw(st.integers(0, 2)) if silent else 0)]
    return Snapshot(replicas=len(members), members=tuple(members))


@FEW
@given(LAWS, st.lists(snapshots(), min_size=1, max_size=30))
def test_decisions_stay_within_the_bounds(policy: ScalingPolicy, seen: list[Snapshot]) -> None:
    memory = Memory()
    for tick, snapshot in enumerate(seen):
        decision, memory = decide(policy, snapshot, memory, tick * 10.0)
        assert policy.minimum <= decision.replicas <= policy.maximum


@FEW
@given(LAWS, LOADS, st.floats(0, 300), st.floats(0, 300), st.integers(1, 5))
def test_more_load_never_means_fewer_replicas(
    policy: ScalingPolicy, history: list[float], load: float, more: float, running: int
) -> None:
    _, memory = followed(policy, history)
    decided = [_under(policy, memory, arrived=load + extra, waiting=extra, running=running) for extra in (0.0, more)]
    assert decided[0] <= decided[1]


def _under(policy: ScalingPolicy, memory: Memory, *, arrived: float, waiting: float, running: int) -> int:
    flow = a_flow(40.0, arrived=arrived)
    members = tuple(a_replica(f"chat-{number}", flow=flow, waiting=waiting) for number in range(running))
    return after(policy, [a_snapshot(*members)], memory)[0].replicas


@settings(max_examples=20, deadline=None)
@given(LAWS, st.floats(min_value=0.0, max_value=300.0))
def test_steady_load_never_flaps(policy: ScalingPolicy, load: float) -> None:
    decided, _ = followed(policy, [load] * 300)
    after_the_start = decided[6:]
    assert after_the_start == sorted(after_the_start, reverse=True)
    assert len(set(decided[240:])) == 1


@settings(max_examples=5, deadline=None)
@given(st.floats(min_value=0.0, max_value=300.0))
def test_steady_load_for_many_hours_only_ever_needs_fewer(load: float) -> None:
    decided, _ = followed(a_policy(), [load] * 1500)
    after_the_start = decided[6:]
    assert after_the_start == sorted(after_the_start, reverse=True)


@FEW
@given(LAWS, st.lists(snapshots(), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_pods_does_not_matter(policy: ScalingPolicy, seen: list[Snapshot], chance: random.Random) -> None:
    shuffled = [Snapshot(replicas=s.replicas, members=tuple(chance.sample(s.members, len(s.members)))) for s in seen]
    assert after(policy, seen)[0] == after(policy, shuffled)[0]


@FEW
@given(LAWS, st.lists(snapshots(), min_size=2, max_size=20))
def test_from_a_checkpoint_of_this_tick_decisions_are_equal(policy: ScalingPolicy, seen: list[Snapshot]) -> None:
    half = len(seen) // 2
    _, memory = after(policy, seen[:half])
    checkpoint = encoded(memory)
    restored = decoded(checkpoint)
    assert len(checkpoint) <= MAX_CHARACTERS
    assert restored == memory
    assert after(policy, seen[half:], restored) == after(policy, seen[half:], memory)


@FEW
@given(LAWS, LOADS, st.integers(1, 9), st.floats(0, 200))
def test_from_an_old_checkpoint_nothing_is_dropped_for_one_hold_window(
    policy: ScalingPolicy, history: list[float], running: int, load: float
) -> None:
    _, old = followed(policy, history)
    memory, start = decoded(encoded(old)), (old.at or 0.0) + 600.0
    assert memory is not None
    for tick in range(int(stabilization_window_seconds(cold_start_seconds(memory.demand)) // 10)):
        decision, memory = decide(policy, a_snapshot(*replicas_under(load, running)), memory, start + tick * 10.0)
        assert decision.replicas >= running


@FEW
@given(LAWS, LOADS, st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 40))
def test_missing_scrapes_never_scale_down(
    policy: ScalingPolicy, history: list[float], answers: list[bool], ticks: int
) -> None:
    _, memory = followed(policy, history)
    members = tuple(
        a_replica(f"chat-{number}", flow=a_flow(0.0), running=0.0, kv_use=0.0)
        if answers_
        else a_silent_replica(f"s-{number}")
        for number, answers_ in enumerate([*answers, False])
    )
    for _ in range(ticks):
        decision, memory = after(policy, [a_snapshot(*members)], memory)
        assert decision.replicas >= len(members)


@FEW
@given(LAWS, st.lists(snapshots(), min_size=1, max_size=10), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10))
def test_any_clock_is_survived(policy: ScalingPolicy, seen: list[Snapshot], times: list[float]) -> None:
    memory = Memory()
    for snapshot, now in zip(seen, times, strict=False):
        decision, memory = decide(policy, snapshot, memory, now)
        assert policy.minimum <= decision.replicas <= policy.maximum
