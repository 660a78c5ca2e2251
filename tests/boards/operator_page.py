"""The page of an operator that has a fleet: made by the operator's own series, from resources as it writes them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from prometheus_client import generate_latest

from llmservice.accounting.ledger import Ledger
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.catalog.overlay import overlaid
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.controllers.endpoints.health import LoopPulse
from llmservice.controllers.metrics.activator_series import ActivatorSeries
from llmservice.controllers.metrics.cost_series import CostSeries
from llmservice.controllers.metrics.engine_series import EngineSeries
from llmservice.controllers.metrics.instruments import CONTROLLER, Metrics
from llmservice.controllers.metrics.measuring import MeasuredQueue
from llmservice.controllers.metrics.process_series import ProcessSeries
from llmservice.controllers.metrics.scaling_series import ScalingSeries
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.converging.pod_readings import ReadFailureReason
from llmservice.objects.references import Manifest
from llmservice.reconcilers.account import Account, tariff_of
from llmservice.reconcilers.accounts import Accounts
from llmservice.reconcilers.scaling.objective_counts import ObjectiveCounts
from llmservice.reconcilers.scaling.service_state import ServiceState
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.stall_states import StallState, WatchedService
from tests.scenarios.scaled_world import ScaledWorld
from tests.unit.accounting.services import NOON, Service

NAMESPACE = "ml"


class _Leader:
    restarts = 1
    watching = True

    def is_leader(self) -> bool:
        return True


class _Watched:
    """An informer as far as its series go."""

    class selection:  # noqa: N801
        kind = "Pod"

    last_heard = 0.0
    restarts: Mapping[str, int] = {"closed": 2}


def a_service(name: str, engine: str, *, ready: int = 2, reason: str = "Ready", devices: int = 1) -> Manifest:
    """A resource with two replicas; `reason` is that of Ready."""
    status = "True" if reason == "Ready" else "False"
    plan = {"accelerator": "L4", "resourceName": "nvidia.com/gpu", "devices": devices}
    conditions = [
        {"type": "Ready", "status": status, "reason": reason, "message": ""},
        {"type": "Available", "status": "True" if ready else "False", "reason": reason, "message": ""},
        {"type": "WeightsReady", "status": "False", "reason": "DownloadFailed", "message": ""},
    ]
    return {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {"namespace": NAMESPACE, "name": name, "uid": name, "resourceVersion": "1"},
        "spec": {"engine": engine, "model": {"uri": "hf://org/model"}},
        "status": {"replicas": 2, "desiredReplicas": 2, "readyReplicas": ready, "plan": plan, "conditions": conditions},
    }


def operator_page(services: Iterable[Manifest]) -> str:
    """The text of the page, with every series that an operator can have."""
    metrics, bodies, leader = Metrics(), ServiceSeries(), _Leader()
    MeasuredQueue(metrics)
    for body in services:
        bodies.observe(None, body)
    informers: Any = (_Watched(),)
    metrics.registry.register(bodies)
    metrics.registry.register(
        ProcessSeries(
            informers=informers, kopf=leader, loop=LoopPulse(), lease="llmservice-operator", leadership=leader
        )
    )
    metrics.registry.register(ScalingSeries(_scaled(), clock=lambda: 4e9))
    metrics.registry.register(EngineSeries({"chat": _hung()}))
    metrics.registry.register(ActivatorSeries(lambda: ("a", "b")))
    metrics.registry.register(CostSeries(_accounts()))
    _exercise(metrics)
    return generate_latest(metrics.registry).decode()


def _scaled() -> ServiceStates:
    """A service that is scaled, and one that is only advised."""
    states = ServiceStates()
    for name, mode in (("chat", "Active"), ("advised", "Advise")):
        world = ScaledWorld().scaled(mode=mode)
        state = world.state
        state.key, state.truncated = (NAMESPACE, name), 2
        state.evaluation = replace(world.evaluation, snapshot=_with_kv_use(world.evaluation.snapshot))
        state.read_failures = {ReadFailureReason.UNREACHABLE: 3}
        _let_sleep(state)
        state.objective = ObjectiveCounts(first_tokens=100.0, late_first_tokens=4.0, answers=90.0, slow_answers=1.0)
        states._by_uid[name] = state
    return states


def _let_sleep(state: ServiceState) -> None:
    """Make it one that was woken twice, while a few requests too many came."""
    plan = state._plan
    assert plan is not None
    assert plan.scaling is not None
    state._plan = replace(plan, scaling=replace(plan.scaling, minimum=0))
    state.start_seconds, state.wakes, state.passed_on, state.refused = 42.0, 2, 30, 4


def _with_kv_use(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, members=tuple(replace(member, kv_use=0.4) for member in snapshot.members))


def _hung() -> StallState:
    service = WatchedService(
        key=(NAMESPACE, "chat"), uid="chat", body={}, pods=(), devices=1, max_num_seqs=8, model="hf://org/model"
    )
    return StallState(service=service, began=0.0, noted_at=0.0, last_restart_at=None, stalls_found=2, restarts=1)


def _accounts() -> Accounts:
    """Of a service whose two devices were idle for an hour."""
    catalogue = overlaid({"accelerators.yaml": "prices: {currency: EUR, per_hour: {L4: 0.8}}"})
    service = Service(devices=2)
    account = Account(key=(NAMESPACE, "chat"), uid="chat", ledger=Ledger(began=NOON), told={}, told_at=0.0, due_at=0.0)
    account.book(service.run(NOON, NOON + 3600), tariff_of(catalogue))
    accounts = Accounts(cache=ObjectCache(), catalogue=lambda: catalogue, clock=lambda: NOON)
    accounts.by_key[account.key] = account
    return accounts


def _exercise(metrics: Metrics) -> None:
    metrics.requests.labels("200", "GET", "api").inc()
    metrics.reconcile_seconds.labels(CONTROLLER).observe(0.1)
    metrics.reconciles.labels(CONTROLLER, "success").inc()
    metrics.autoscale_seconds.observe(0.2)
    metrics.events_dropped.inc()
    metrics.observe_start("vllm", {"load": 40, "total": 60})
