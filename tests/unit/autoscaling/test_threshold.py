"""Threshold: the largest demand wins, starting replicas count, a missing signal is said."""

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.planning.scaling_plan import LoadTargets
from tests.unit.autoscaling.builders import (
    a_replica,
    a_silent_replica,
    a_snapshot,
    a_starting_replica,
    a_threshold_policy,
    after,
)


@pytest.mark.parametrize(
    ("waiting", "kv_use", "replicas"),
    [(0, 0.2, 1), (4, 0.2, 1), (5, 0.2, 2), (12, 0.2, 3), (0, 0.95, 2), (6, 0.95, 2)],
)
def test_the_largest_demand_wins(waiting: float, kv_use: float, replicas: int) -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(a_replica(waiting=waiting, kv_use=kv_use))])
    assert decision.replicas == replicas


def test_names_the_signal_that_decided() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(a_replica(waiting=12))])
    assert decision.message == "1 → 3: queue 12 in all, target 4 each wants 3.0"
    assert decision.reason is Reason.LOAD_ROSE


def test_every_signal_casts_its_vote() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(a_replica(waiting=12))])
    assert [vote.step for vote in decision.trace] == ["KV cache", "queue", "hold", "result"]


def test_a_demand_within_a_tenth_changes_nothing() -> None:
    snapshot = a_snapshot(a_replica("a", waiting=5), a_replica("b", waiting=3.7))
    assert after(a_threshold_policy(), [snapshot])[0].replicas == 2


def test_starting_replicas_do_not_multiply_the_next_step() -> None:
    busy = a_replica("a", waiting=12)
    starting = (a_starting_replica("b"), a_starting_replica("c"))
    decision, _ = after(a_threshold_policy(), [a_snapshot(busy), *[a_snapshot(busy, *starting)] * 5])
    assert decision.replicas == 3


def test_comes_down_only_after_the_window() -> None:
    idle = a_snapshot(a_replica("a", kv_use=0.1), a_replica("b", kv_use=0.1))
    busy = a_snapshot(a_replica("a", waiting=8), a_replica("b"))
    assert after(a_threshold_policy(), [busy, *[idle] * 30])[0].replicas == 2
    assert after(a_threshold_policy(), [busy, *[idle] * 31])[0].replicas == 1


def test_a_silent_replica_is_taken_to_carry_what_the_others_carry() -> None:
    snapshot = a_snapshot(a_replica("a", waiting=8), a_silent_replica())
    assert after(a_threshold_policy(), [snapshot])[0].replicas == 4


def test_a_replica_that_reports_no_kv_use_is_taken_to_carry_what_the_others_carry() -> None:
    """In a rollout to an engine without this signal the old and the new replicas serve side by side."""
    policy = a_threshold_policy(targets=LoadTargets(kv_use=0.4))
    snapshot = a_snapshot(a_replica("old", kv_use=0.8), a_replica("new", kv_use=None))
    decision, _ = after(policy, [snapshot])
    assert decision.trace[0].step == "KV cache"
    assert decision.trace[0].replicas == pytest.approx(1.6 / 0.4)
    assert decision.replicas == 4


def test_the_same_holds_beside_a_replica_that_was_not_read() -> None:
    policy = a_threshold_policy(targets=LoadTargets(kv_use=0.4))
    snapshot = a_snapshot(a_replica("old", kv_use=0.8), a_replica("new", kv_use=None), a_silent_replica())
    assert after(policy, [snapshot])[0].trace[0].replicas == pytest.approx(2.4 / 0.4)


def test_what_waits_in_front_of_the_service_is_counted_once() -> None:
    snapshot = a_snapshot(a_replica("a", waiting=4, kv_use=None), a_silent_replica(), gated=8)
    assert after(a_threshold_policy(), [snapshot])[0].trace[1].replicas == pytest.approx((8 + 8) / 4)


def test_leaves_out_a_signal_the_engine_does_not_report() -> None:
    decision, _ = after(a_threshold_policy(), [a_snapshot(a_replica(kv_use=None, waiting=8))])
    assert decision.replicas == 2
    assert decision.trace[0].message == "not reported by this engine"


def test_says_when_no_target_has_a_signal() -> None:
    policy = a_threshold_policy(targets=LoadTargets(kv_use=0.8))
    decision, _ = after(policy, [a_snapshot(a_replica("a", kv_use=None), a_replica("b", kv_use=None))])
    assert (decision.replicas, decision.reason) == (2, Reason.SIGNAL_MISSING)
    assert "set targets.queuedRequests" in decision.message
