"""What a service on devices costs: told every ten minutes at most, counted on after a restart, and in metrics."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from prometheus_client import CollectorRegistry

from llmservice.api.v1alpha1.status import LLMServiceStatus
from llmservice.catalog.catalogue import Catalogue
from llmservice.catalog.overlay import overlaid
from llmservice.controllers.metrics.cost_series import CostSeries
from llmservice.converging.pod_readings import Reading
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.accounts import PERIOD_SECONDS, Accounts
from tests.scenarios.world import NAMESPACE, World, a_ready_pod
from tests.unit.autoscaling.builders import counters

KEY = (NAMESPACE, "chat")
L4: dict[str, Any] = {"spec__gpu": {"type": "L4", "count": 1}, "spec__engine": "llamacpp"}


def priced(price: float) -> Catalogue:
    return overlaid({"accelerators.yaml": f"prices: {{currency: EUR, per_hour: {{L4: {price}}}}}"})


@dataclass
class CostWorld(World):
    """The small world with an account of its devices; `look` is one round of it, with all that follows."""

    catalogue: Catalogue = field(default_factory=lambda: priced(0.8))
    accounts: Accounts = field(init=False)
    changed: list[Any] = field(default_factory=list)
    running: float = 0.0
    pods: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lead()

    def lead(self) -> None:
        """Another process counts from now on."""
        self.accounts = Accounts(
            cache=self.cache, catalogue=lambda: self.catalogue, clock=self.seconds, changed=self.changed.append
        )
        self.accounts.listen_to(self.cache)
        self.reconciler.status.completed = self.accounts.with_cost

    def on_devices(self, replicas: int = 1) -> "CostWorld":
        """With a service whose replicas are ready since now."""
        self.apply(**L4, spec__replicas=replicas)
        self.reconcile()
        for _ in range(replicas):
            self.pod()
        self.reconcile()
        self.writes()
        return self

    def pod(self) -> str:
        """One more that is bound and ready; returns its name."""
        name, moment = f"chat-{self.pods}", self.time.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.pods += 1
        pod = a_ready_pod(name, "chat", self.replica_set())
        pod["spec"] |= {"nodeName": "node-a"}
        pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1", "memory": "8Gi"}}
        pod["status"]["conditions"] = [
            {"type": kind, "status": "True", "lastTransitionTime": moment} for kind in ("PodScheduled", "Ready")
        ]
        self.cluster.create(pod)
        return name

    def look(self, *, read: bool = True) -> None:
        """Half a minute passes, engines are read, devices are counted, and what is due is written."""
        self.time += timedelta(seconds=PERIOD_SECONDS)
        if read:
            reading = Reading(counters=counters(self.seconds(), running=self.running))
            found = [
                ScaledPod(name=pod["metadata"]["name"], uid=pod["metadata"]["uid"], phase=PodPhase.READY)
                for pod in self.cache.of_service("Pod", *KEY)
            ]
            self.accounts.note(self.get("LLMService"), found, {pod.name: reading for pod in found})
        asyncio.run(self.accounts.round())
        while self.changed:
            self.reconciler_pass()

    def reconciler_pass(self) -> None:
        self.changed.pop()
        self.reconcile()

    def minutes(self, number: int, *, read: bool = True) -> None:
        for _ in range(number * 2):
            self.look(read=read)

    @property
    def cost(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.get("LLMService")["status"].get("cost") or {}
        return found


def statuses(world: World) -> int:
    """How often the status was written since the last call."""
    return sum("LLMService" in write for write in world.writes())


def test_the_status_says_what_was_spent_and_how_much_was_idle() -> None:
    world = CostWorld().on_devices(2)
    world.minutes(60)
    cost = world.cost
    assert (cost["devices"], cost["currency"], cost["perHour"]) == (2, "EUR", "1.60")
    counted = datetime.fromisoformat(cost["countedUntil"]).timestamp() - world.seconds()
    assert -600 <= counted <= 0
    assert 1.3 < float(cost["today"]) <= 1.6
    assert cost["idleSharePercent"] >= 98
    assert float(cost["zeroWouldSave"]) > 1
    LLMServiceStatus.model_validate(world.get("LLMService")["status"])


def test_the_status_is_written_for_it_every_ten_minutes_at_most() -> None:
    world = CostWorld().on_devices()
    world.minutes(61)
    assert 5 <= statuses(world) <= 8
    assert world.reconcile() is None
    assert statuses(world) == 0


def test_a_service_without_devices_has_no_cost_and_no_write() -> None:
    world = CostWorld()
    world.serving()
    world.minutes(30)
    assert (world.cost, statuses(world)) == ({}, 0)
    assert world.accounts.by_key == {}


def test_what_stands_still_is_not_written_again() -> None:
    world = CostWorld().on_devices()
    world.minutes(15)
    world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))
    world.minutes(15)
    assert world.cost["devices"] == 0
    world.writes()
    world.minutes(60)
    assert statuses(world) == 0


def test_another_write_takes_the_newest_with_it() -> None:
    world = CostWorld().on_devices()
    world.minutes(15)
    before = world.cost["countedUntil"]
    world.minutes(2)
    world.apply(**L4, spec__replicas=2)
    world.reconcile()
    assert world.cost["countedUntil"] > before


def test_another_process_goes_on_from_the_status() -> None:
    world = CostWorld().on_devices()
    world.minutes(60)
    before = world.cost
    world.lead()
    asyncio.run(world.accounts.round())
    account = world.accounts.by_key[KEY]
    held = sum(usage.held for day in account.ledger.days.values() for usage in day.values())
    seconds = sum(
        each[f"{state}Seconds"]
        for each in before["days"][0]["devices"]
        for state in ("busy", "idle", "starting", "unknown")
    )
    assert seconds <= held <= seconds + 630
    world.minutes(25)
    assert float(world.cost["today"]) >= float(before["today"])


def test_a_new_price_is_told_soon_and_changes_no_pod() -> None:
    world = CostWorld().on_devices()
    world.minutes(30)
    pods = world.get("Deployment")["spec"]
    world.catalogue = priced(8.0)
    asyncio.run(world.accounts.round(anew=True))
    assert world.changed == [KEY]
    world.reconciler_pass()
    assert world.cost["perHour"] == "8.00"
    assert world.get("Deployment")["spec"] == pods


def test_without_prices_there_are_device_seconds_alone() -> None:
    world = CostWorld(catalogue=overlaid({})).on_devices()
    world.minutes(30)
    assert "currency" not in world.cost
    assert world.cost["days"][0]["devices"][0]["accelerator"] == "L4"


def test_engines_that_are_not_read_are_unknown() -> None:
    world = CostWorld().on_devices()
    world.minutes(30, read=False)
    (used,) = world.cost["days"][0]["devices"]
    assert (used["idleSeconds"], used["busySeconds"]) == (0, 0)
    assert used["unknownSeconds"] > 600


def test_the_series_are_those_of_this_process_and_end_with_the_resource() -> None:
    world, registry = CostWorld(running=3.0).on_devices(), CollectorRegistry()
    registry.register(CostSeries(world.accounts))
    world.minutes(30)
    kind = {"accelerator": "L4", "resource": "nvidia.com/gpu"}
    of_service = {"namespace": NAMESPACE, "name": "chat"}
    busy = registry.get_sample_value("llmservice_device_seconds_total", {**of_service, **kind, "state": "busy"})
    assert busy is not None
    assert 1700 <= busy <= 1800
    spent = registry.get_sample_value("llmservice_cost_total", {**of_service, "currency": "EUR"})
    assert spent is not None
    assert 0.37 <= spent <= 0.4
    assert registry.get_sample_value("llmservice_device_price_per_hour", {**kind, "currency": "EUR"}) == 0.8
    world.cluster.remove(Ref("LLMService", *KEY))
    assert registry.get_sample_value("llmservice_cost_total", {**of_service, "currency": "EUR"}) is None


def test_a_pod_of_a_stranger_is_not_counted() -> None:
    world = CostWorld().on_devices()
    strange: Manifest = a_ready_pod("strange", "chat", None)
    strange["spec"] |= {"nodeName": "node-a"}
    world.cluster.create(strange)
    world.minutes(15)
    assert world.cost["devices"] == 1


def test_a_status_that_a_stranger_wrote_does_no_harm() -> None:
    world = CostWorld().on_devices()
    world.minutes(15)
    ref = Ref("LLMService", *KEY)
    world.cluster.edit(ref, lambda live: live["status"].update(cost={"days": "x"}), subresource="status")
    world.reconcile()
    assert world.cost["currency"] == "EUR"
