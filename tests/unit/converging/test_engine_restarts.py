"""When an engine that hangs is restarted, and what is said of it."""

from dataclasses import replace

from llmservice.converging.engine_restarts import (
    NOT_ALLOWED,
    RESTARTED,
    Stall,
    last_restart,
    obstacle,
    stalled_condition,
)
from llmservice.converging.scaled_pods import PodPhase, ScaledPod

STALL = Stall(pod="chat-1", uid="1", running=14, seconds=130.4, silent=True)
HUNG = ScaledPod(name="chat-1", uid="1", phase=PodPhase.READY, created_at="2026-01-01T00:00:00Z")
OTHER = ScaledPod(name="chat-2", uid="2", phase=PodPhase.READY, created_at="2026-01-01T00:20:00Z")
NOW = 1_767_230_000.0


def why_not(*pods: ScaledPod, stall: Stall = STALL, last_at: float | None = None, allowed: bool = True) -> str:
    return obstacle(stall, pods or (HUNG, OTHER), last_at, NOW, allowed=allowed)


def test_it_is_restarted_beside_others_that_serve_and_where_it_is_the_only_one() -> None:
    assert why_not() == ""
    assert why_not(HUNG) == ""


def test_never_while_another_replica_is_not_ready() -> None:
    for phase in (PodPhase.STARTING, PodPhase.UNSCHEDULABLE):
        assert why_not(HUNG, replace(OTHER, phase=phase))


def test_one_in_ten_minutes() -> None:
    assert why_not(last_at=NOW - 599)
    assert why_not(last_at=NOW - 600) == ""


def test_never_by_metrics_alone() -> None:
    assert why_not(stall=replace(STALL, silent=False))


def test_not_without_the_right() -> None:
    assert why_not(allowed=False) == NOT_ALLOWED


def test_who_did_not_watch_takes_the_youngest_pod_for_the_last_restart() -> None:
    midnight = 1_767_225_600.0
    assert last_restart([HUNG, OTHER], midnight + 3600) == midnight + 1200
    assert last_restart([HUNG, OTHER], midnight + 600) == midnight  # the other one was made afterwards
    assert last_restart([HUNG, OTHER], midnight - 1) is None


def test_the_condition_has_the_figures() -> None:
    condition = stalled_condition(STALL, RESTARTED)
    assert (condition.status, condition.reason) == (False, "EngineStalled")
    assert all(part in condition.message for part in ("chat-1", "14", "2m10s", "10 minutes"))
