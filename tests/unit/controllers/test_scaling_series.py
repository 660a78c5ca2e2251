"""The autoscaler's series: one name for each figure whatever the engine, and none for what is gone or unknown."""

import pytest
from prometheus_client import CollectorRegistry

from llmservice.controllers.metrics.scaling_series import ScalingSeries
from llmservice.objects.references import Ref, ref_of
from tests.scenarios.scaled_world import UNREACHABLE, ScaledWorld

CHAT = {"namespace": "ml", "name": "chat"}


def value(world: ScaledWorld, name: str, **labels: str) -> float | None:
    """The sample of the service; None where there is none."""
    registry = CollectorRegistry()
    registry.register(ScalingSeries(world.states, clock=lambda: world.seconds() + 3))
    return registry.get_sample_value(name, CHAT | labels)


def test_the_figures_of_a_service() -> None:
    world = ScaledWorld().scaled(minimum=2)
    world.source.running = 6.0
    world.round()
    assert value(world, "llmservice_autoscale_desired_replicas") == 3
    assert value(world, "llmservice_autoscale_advised_replicas") is None
    assert value(world, "llmservice_requests_running") == 12
    assert value(world, "llmservice_requests_waiting") == 0
    assert value(world, "llmservice_autoscale_reading_age_seconds") == pytest.approx(3, abs=0.01)
    assert value(world, "llmservice_autoscale_decisions_total", reason="LoadRose") == 1


def test_advice_is_a_series_of_its_own() -> None:
    world = ScaledWorld().scaled(mode="Advise")
    assert value(world, "llmservice_autoscale_desired_replicas") is None
    assert value(world, "llmservice_autoscale_advised_replicas") == 1


def test_absent_is_not_zero() -> None:
    world = ScaledWorld().scaled()
    assert value(world, "llmservice_kv_cache_usage_ratio") is None
    world.source.unreadable = {"chat-1-01": UNREACHABLE}
    world.round()
    assert value(world, "llmservice_requests_running") is None
    assert value(world, "llmservice_autoscale_reading_age_seconds") is None
    assert value(world, "llmservice_autoscale_read_failures_total", reason="Unreachable") == 1


def test_requests_that_ended_with_their_engine() -> None:
    world = ScaledWorld()
    world.apply(spec__autoscaling={"minReplicas": 1, "maxReplicas": 1})
    world.reconcile()
    world.round()
    assert value(world, "llmservice_requests_truncated_total") is None
    world.settle()
    world.source.running = 4.0
    world.round()
    assert value(world, "llmservice_requests_truncated_total") == 0
    world.cluster.remove(ref_of(world.pods()[0]))
    assert value(world, "llmservice_requests_truncated_total") == 4


def test_series_end_with_the_resource() -> None:
    world = ScaledWorld().scaled()
    world.cluster.remove(Ref("LLMService", "ml", "chat"))
    assert value(world, "llmservice_autoscale_desired_replicas") is None
    assert value(world, "llmservice_autoscale_decisions_total", reason="AtMinimum") is None


def test_series_end_when_it_is_scaled_no_longer() -> None:
    world = ScaledWorld().scaled()
    world.apply(spec__replicas=1)
    assert value(world, "llmservice_autoscale_desired_replicas") is None


def test_the_reason_of_now_and_the_objective() -> None:
    world = ScaledWorld().scaled()
    assert value(world, "llmservice_autoscale_reason", reason="AtMinimum") == 1
    assert value(world, "llmservice_objective_seconds", objective="ttft") == 3
    assert value(world, "llmservice_objective_seconds", objective="tpot") == pytest.approx(0.1)
    assert value(world, "llmservice_objective_requests_total", objective="ttft") == 0
