"""The small world with a service that may sleep: activators that hold what a test says, and the Service's endpoints."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from llmservice.catalog.loader import load_catalogue
from llmservice.objects.endpoint_slices import Activator, slice_ref
from llmservice.objects.pods import is_ready
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.activation.activators import Control
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.reconcilers.activation.sleepers import Sleepers
from llmservice.reconcilers.llmservice import LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.scaling.resting import Resting
from llmservice.rendering.manifests import CHILD_KINDS
from llmservice.signals.held_page import HeldPage, PortCounts
from llmservice.signals.source import Target
from tests.scenarios.scaled_world import FakeSource, ScaledWorld
from tests.scenarios.world import NAMESPACE

ONE = Activator("10.1.0.1", "llmservice-system", "activator-1")
TWO = Activator("10.1.0.2", "llmservice-system", "activator-2")


@dataclass
class FakeActivators:
    """Those that a test says are ready."""

    there: frozenset[Activator] = frozenset({ONE, TWO})
    listeners: list[Callable[[], None]] = field(default_factory=list)

    def ready(self) -> frozenset[Activator]:
        return self.there

    def controls(self) -> frozenset[Control]:
        return frozenset(Control(each.address) for each in self.there)

    def answers(self, control: Control, *, well: bool) -> None:
        """Nobody asks them here."""

    def listen(self, listener: Callable[[], None]) -> None:
        self.listeners.append(listener)

    def become(self, *there: Activator) -> None:
        self.there = frozenset(there)
        for listener in self.listeners:
            listener()


@dataclass
class CountingSource(FakeSource):
    """Engines that have worked on `tokens` tokens so far."""

    tokens: float = 100.0

    def _one(self, target: Target) -> Any:
        reading = super()._one(target)
        counters = getattr(reading, "counters", None)
        return reading if counters is None else replace(reading, counters=replace(counters, prompt_tokens=self.tokens))


@dataclass
class ZeroWorld(ScaledWorld):
    """One service that may sleep; `hold` says how many requests the first activator has for it."""

    source: CountingSource = field(default_factory=CountingSource)
    activators: FakeActivators = field(default_factory=FakeActivators)
    hurried: list[str] = field(default_factory=list)
    sleepers: Sleepers = field(init=False)

    def lead(self) -> None:
        super().lead()
        self.sleepers = Sleepers(
            cache=self.cache,
            activators=self.activators,
            states=self.states,
            held=HeldRequests(),
            hurry=lambda key: self.hurried.append(key[1]),
            changed=lambda key: self.changed.append(key[1]),
            clock=self.seconds,
        )
        self.autoscaler.scaler.resting = Resting(
            door=self.sleepers, later=lambda *_: None, hurry=lambda key: self.hurried.append(key[1])
        )
        self.reconciler = LLMServiceReconciler(
            cluster=self.cluster,
            cache=self.cache,
            observer=Observer(cluster=self.cluster, cache=self.cache, child_kinds=(*CHILD_KINDS, "EndpointSlice")),
            plan=CataloguePlanner(load_catalogue()),
            now=lambda: self.time,
            scaling=self.states.report,
            sleepers=self.sleepers,
        )
        self.reconciler.children.clock = self.reconciler.status.clock = self.reconciler.rollouts.clock = self.seconds

    def sleeping(self, **autoscaling: Any) -> "ZeroWorld":
        """The world with a service that went to sleep after ten minutes."""
        self.awake(**autoscaling)
        self.tick(64)
        return self

    def awake(self, **autoscaling: Any) -> "ZeroWorld":
        """The world with a service that serves, and may sleep."""
        values: dict[str, Any] = {"minimum": 0, "idle": {"afterSeconds": 600}}
        self.scaled(**values | autoscaling)
        return self

    def round(self, *, seconds: float = 10.0) -> None:
        super().round(seconds=seconds)
        self.reconcile()

    def decide(self) -> None:
        """A look of the autoscaler; whom it has reconciled stands in `changed`."""
        asyncio.run(self.autoscaler.scale([*self.autoscaler.services.keys()]))

    def settle(self) -> None:
        """The controllers, and that of EndpointSlices after them."""
        super().settle()
        self.list_endpoints()
        self.reconcile()

    def list_endpoints(self) -> None:
        """What the endpoint slice controller does: the ready pods as the endpoints of the Service."""
        ready = [pod["status"]["podIP"] for pod in self.pods() if is_ready(pod)]
        endpoints = [{"addresses": [address], "conditions": {"ready": True}} for address in ready]
        ref = Ref("EndpointSlice", NAMESPACE, "chat-abcde")
        if self.cluster.peek(ref) is None:
            self.cluster.create(_of_selector(self.get("Service")))
        self.cluster.edit(ref, lambda live: live.update(endpoints=endpoints))

    def hold(self, requests: int, **counted: int) -> None:
        """What the first activator says it has for the service."""
        port = self.slice()["ports"][0]["port"]
        self.sleepers.held.put(
            Control(ONE.address), HeldPage(version="1", ports={port: PortCounts(held=requests, **counted)})
        )

    def slice(self) -> Manifest:
        """The operator's EndpointSlice of the service."""
        live = self.cluster.peek(slice_ref(NAMESPACE, "chat"))
        assert live is not None
        return live

    def in_path(self) -> list[str]:
        """The addresses of the activators that are endpoints."""
        return [address for each in self.slice().get("endpoints") or () for address in each["addresses"]]

    @property
    def idle(self) -> dict[str, Any]:
        """`status.autoscaling.idle`."""
        found: dict[str, Any] = self.autoscaling.get("idle", {})
        return found

    def ask_for_it(self, at: str) -> None:
        """What `llmservice wake` does."""
        change = {"llmservice.dev/wake": at}
        self.cluster.edit(
            Ref("LLMService", NAMESPACE, "chat"), lambda live: live["metadata"].update(annotations=change)
        )

    def scaled_events(self) -> list[str]:
        """The messages of Events about replicas."""
        events = asyncio.run(self.cluster.list("Event", NAMESPACE))
        return [each["message"] for each in events if each["reason"] in {"ScaledUp", "ScaledDown"}]


def _of_selector(service: Manifest) -> Manifest:
    metadata = service["metadata"]
    owner = {"apiVersion": "v1", "kind": "Service", "name": "chat", "uid": metadata["uid"], "controller": True}
    labels = {**metadata["labels"], "kubernetes.io/service-name": "chat"}
    labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io"
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "chat-abcde", "namespace": NAMESPACE, "labels": labels, "ownerReferences": [owner]},
        "addressType": "IPv4",
        "endpoints": [],
        "ports": [{"name": "http", "port": 8000, "protocol": "TCP"}],
    }
