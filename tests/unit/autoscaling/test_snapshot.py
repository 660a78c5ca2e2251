"""What a snapshot refuses, and what it sums up."""

import math
from typing import Any

import pytest

from tests.unit.autoscaling.builders import a_flow, a_replica, a_silent_replica, a_snapshot, a_starting_replica


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
@pytest.mark.parametrize("field", ["running", "waiting", "kv_use"])
def test_refuses_numbers_that_no_engine_can_mean(field: str, bad: float) -> None:
    values: dict[str, Any] = {field: bad}
    with pytest.raises(ValueError, match=r"chat-3.*Unreadable"):
        a_replica("chat-3", **values)


def test_sorts_ready_replicas_by_name() -> None:
    snapshot = a_snapshot(a_replica("b"), a_starting_replica(), a_replica("a"), a_silent_replica())
    assert [replica.name for replica in snapshot.ready] == ["a", "b"]
    assert (snapshot.starting, snapshot.unreadable) == (1, 1)


def test_adds_up_what_was_read() -> None:
    snapshot = a_snapshot(a_replica("a", waiting=3.0, kv_use=0.5), a_replica("b", kv_use=0.25), a_silent_replica())
    assert (snapshot.waiting, snapshot.running, snapshot.kv_uses) == (3.0, 16.0, (0.5, 0.25))
    assert snapshot.serving == 3


def test_no_kv_use_is_not_zero_kv_use() -> None:
    assert a_snapshot(a_replica(kv_use=None)).kv_uses == ()


def test_counts_a_request_that_is_late_and_slow_twice() -> None:
    assert a_flow(ttft_violations=2.0, tpot_violations=3.0).slo_violations == 5.0
