"""A service that was known before runs on with its number until enough was read again to say what it needs."""

import dataclasses

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.deciding import decide
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.memory import Memory
from llmservice.autoscaling.snapshot import Replica, Snapshot
from tests.unit.autoscaling.builders import a_flow, a_policy, a_replica, a_snapshot, after, followed

POLICY = a_policy(roofline=None)


def known() -> Memory:
    """What is known after ten minutes of forty to sixty requests in ten seconds."""
    return followed(POLICY, [40.0 + tick * 7 % 20 for tick in range(60)])[1]


def unread(number: int = 2, waiting: float = 0.0) -> Snapshot:
    """Busy replicas whose counters were read only once."""
    return a_snapshot(*(Replica(name=f"chat-{index}", running=60.0, waiting=waiting) for index in range(number)))


def after_a_gap(*snapshots: Snapshot, memory: Memory | None = None) -> tuple[Decision, Memory]:
    memory = memory or known()
    decision, memory = decide(POLICY, snapshots[0], memory, (memory.at or 0.0) + 600.0)
    return after(POLICY, list(snapshots[1:]), memory) if snapshots[1:] else (decision, memory)


def test_after_a_gap_the_number_stays_until_replicas_were_read_twice() -> None:
    decision, memory = after_a_gap(unread())
    assert (decision.replicas, decision.reason) == (2, Reason.STEADY)
    assert decision.message == (
        "2: 120 requests; too little was read so far to say how many replicas they need, so the number stays"
    )
    decision, _ = after(POLICY, [a_snapshot(*(a_replica(f"chat-{index}", running=60.0) for index in range(2)))], memory)
    assert "one replica holds" in decision.message


def test_a_service_of_which_nothing_was_known_grows_at_once() -> None:
    assert after(POLICY, [unread()])[0].replicas == 8


def test_a_service_that_began_a_moment_ago_grows_with_every_look() -> None:
    few, many = (
        a_replica(flow=a_flow(0.0), running=1.0),
        a_replica(flow=a_flow(4.0, inter_token_count=0.0), running=60.0),
    )
    for quiet in range(1, 12):
        decision, _ = after(POLICY, [*[a_snapshot(few)] * quiet, a_snapshot(many)])
        assert decision.replicas == 4, quiet


def test_queues_on_all_replicas_end_it_after_two_looks() -> None:
    queued = unread(waiting=4.0)
    assert [after_a_gap(*[queued] * evaluations)[0].replicas for evaluations in (1, 2, 3)] == [2, 2, 8]
    assert after_a_gap(*[unread()] * 3)[0].replicas == 2


def test_replicas_that_can_be_read_only_now_and_then_are_held_once() -> None:
    decision, memory = after_a_gap(unread())
    assert decision.replicas == 2
    assert after_a_gap(unread(), memory=memory)[0].replicas == 8


def test_it_ends_after_five_looks() -> None:
    assert [after_a_gap(*[unread()] * evaluations)[0].replicas for evaluations in (5, 6)] == [2, 8]


def test_an_engine_without_inter_token_latency_is_not_waited_for() -> None:
    untimed = a_flow(inter_token_count=None, inter_token_seconds=None)
    memory = dataclasses.replace(known(), capacity=Memory().capacity)
    replicas = [a_replica(f"chat-{index}", running=60.0, flow=untimed) for index in range(2)]
    assert after_a_gap(a_snapshot(*replicas), memory=memory)[0].replicas == 8


def test_what_ran_is_kept_for_one_window_afterwards() -> None:
    idle = a_snapshot(*(a_replica(f"chat-{index}", running=0.0, flow=a_flow(0.0)) for index in range(6)))
    memory = known()
    _, memory = decide(POLICY, unread(6), memory, (memory.at or 0.0) + 600.0)
    assert [after(POLICY, [idle] * evaluations, memory)[0].replicas for evaluations in (6, 7)] == [6, 4]


def test_with_other_replicas_the_number_stays_until_one_is_known() -> None:
    memory = known().of_other_replicas()
    busy = [
        a_snapshot(*(a_replica(f"chat-{index}", running=60.0, flow=a_flow(flow + 5 * index)) for index in range(2)))
        for flow in (20.0, 25.0)
    ]
    first, memory = after(POLICY, busy[:1], memory)
    second, _ = after(POLICY, busy[1:], memory)
    assert "too little was read so far" in first.message
    assert first.replicas == 2
    assert "one replica holds" in second.message


def test_of_other_replicas_only_the_traffic_is_kept() -> None:
    memory = dataclasses.replace(known(), demand=dataclasses.replace(known().demand, cold_starts=(300,)))
    other = memory.of_other_replicas()
    assert (other.at, other.capacity, other.stabilization) == (None, Memory().capacity, Memory().stabilization)
    assert memory.demand.surprise_hours > 0
    assert other.demand == dataclasses.replace(memory.demand, cold_starts=(), surprise=0.0, surprise_hours=0.0)
