"""The concurrency target: without latency histograms, and before anything is learnt."""

import pytest

from llmservice.autoscaling.snapshot import Snapshot
from tests.unit.autoscaling.builders import a_flow, a_policy, a_replica, a_snapshot, after

UNTIMED = a_flow(
    inter_token_count=None, inter_token_seconds=None, first_tokens=None, ttft_violations=None, tpot_violations=None
)


def busy_with(requests: float, *, slots: int | None = 256) -> Snapshot:
    """One replica of an engine that reports no latency."""
    return a_snapshot(a_replica(running=requests, slots=slots, flow=UNTIMED))


@pytest.mark.parametrize(("requests", "replicas"), [(0, 1), (16, 1), (17, 1), (18, 2), (60, 4)])
def test_aims_at_sixteen_requests_per_replica(requests: float, replicas: int) -> None:
    assert after(a_policy(roofline=None), [busy_with(requests)] * 3)[0].replicas == replicas


@pytest.mark.parametrize(("requests", "replicas"), [(3, 1), (4, 2), (9, 3)])
def test_aims_below_the_slots_where_they_are_few(requests: float, replicas: int) -> None:
    assert after(a_policy(roofline=None), [busy_with(requests, slots=4)] * 3)[0].replicas == replicas


def test_says_that_the_engine_reports_too_little() -> None:
    decision, _ = after(a_policy(), [busy_with(40)] * 3)
    assert decision.message == "1 → 3: 40 requests, 16 per replica; the engine reports too little to learn from"


def test_says_that_nothing_is_learnt_yet() -> None:
    decision, _ = after(a_policy(roofline=None), [a_snapshot(a_replica(running=40.0))])
    assert decision.message == "1 → 3: 40 requests, 16 per replica; nothing is learnt yet"


def test_requests_at_the_gate_count() -> None:
    decision, _ = after(a_policy(roofline=None), [a_snapshot(a_replica(running=10.0, flow=UNTIMED), gated=30.0)])
    assert decision.replicas == 3


def test_one_quiet_moment_does_not_bring_it_down() -> None:
    busy = a_snapshot(*(a_replica(f"chat-{number}", running=20.0, flow=UNTIMED) for number in range(2)))
    quiet = a_snapshot(*(a_replica(f"chat-{number}", running=0.0, flow=UNTIMED) for number in range(2)))
    assert after(a_policy(), [*[busy] * 20, quiet, *[busy] * 3])[0].replicas == 3
