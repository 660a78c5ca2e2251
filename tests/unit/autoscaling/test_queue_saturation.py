"""Clogged replicas: lost to their own queue, by how long it lasts."""

import pytest

from llmservice.autoscaling.queue_saturation import queue_saturated
from tests.unit.autoscaling.builders import a_replica, a_snapshot


@pytest.mark.parametrize(("waiting", "lost"), [(0, 0.0), (1, 0.0), (61, 0.0), (91, 0.5), (121, 1.0), (900, 1.0)])
def test_a_queue_counts_from_half_a_cold_start_on(waiting: float, lost: float) -> None:
    snapshot = a_snapshot(a_replica(waiting=waiting))
    assert queue_saturated(snapshot, 1000.0, 1000.0, cold_start_seconds=120.0) == pytest.approx(lost)


def test_every_replica_counts_by_its_own_queue() -> None:
    snapshot = a_snapshot(a_replica("a", waiting=121.0), a_replica("b"), a_replica("c", waiting=91.0))
    assert queue_saturated(snapshot, 1000.0, 1000.0, cold_start_seconds=120.0) == pytest.approx(1.5)


def test_what_waits_at_the_gate_counts_from_the_first_request() -> None:
    assert queue_saturated(a_snapshot(gated=30.0), 1000.0, 1000.0, cold_start_seconds=120.0) == pytest.approx(0.5)
