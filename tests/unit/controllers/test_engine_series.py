"""The series of the watch over engines: counts of each service, which end with it."""

from prometheus_client import CollectorRegistry

from llmservice.controllers.metrics.engine_series import EngineSeries
from llmservice.reconcilers.stall_states import StallState, WatchedService


def test_stalls_and_restarts_are_counted_by_service() -> None:
    service = WatchedService(key=("ml", "chat"), uid="1", body={}, pods=(), devices=1, max_num_seqs=8, model="chat")
    state = StallState(service=service, began=0.0, noted_at=0.0, last_restart_at=None, stalls_found=3, restarts=1)
    states, registry = {"1": state}, CollectorRegistry()
    registry.register(EngineSeries(states))
    labels = {"namespace": "ml", "name": "chat"}
    assert registry.get_sample_value("llmservice_engine_stalls_total", labels) == 3
    assert registry.get_sample_value("llmservice_engine_restarts_total", labels) == 1
    states.clear()
    assert registry.get_sample_value("llmservice_engine_stalls_total", labels) is None
