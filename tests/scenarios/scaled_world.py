"""The small world with an autoscaler: engines that report what a test says, a clock that it turns, pods that stay."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.scaled_pods import DELETION_COST_ANNOTATION
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.reconcilers.scaling.autoscaler import Autoscaler
from llmservice.reconcilers.scaling.evaluation import Evaluation
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.scaled_services import ScaledServices
from llmservice.reconcilers.scaling.service_scaler import ServiceScaler
from llmservice.reconcilers.scaling.service_state import ServiceState
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.signals.source import Target
from tests.scenarios.world import NAMESPACE, World, controlled_by
from tests.unit.autoscaling.builders import counters

RUNNING = {"policy": "Threshold", "targets": {"runningRequests": 4}}
"""Four requests per replica."""


@dataclass
class FakeSource:
    """Engines that hold `running` requests each, or what `by_pod` says of one; `unreadable` ones do not answer."""

    running: float = 0.0
    by_pod: dict[str, float] = field(default_factory=dict)
    unreadable: dict[str, ReadFailure] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    now: float = 0.0

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        self.asked = [target.pod for target in targets]
        return {target: self._one(target) for target in targets}

    def _one(self, target: Target) -> Reading | ReadFailure:
        if target.pod in self.unreadable:
            return self.unreadable[target.pod]
        running = self.by_pod.get(target.pod, self.running)
        return Reading(counters=counters(self.now, running=running, finished=None))


UNREACHABLE = ReadFailure(reason=ReadFailureReason.UNREACHABLE, message="connection refused: see its log")


@dataclass
class ScaledWorld(World):
    """One service, `chat`, that is scaled; `tick` is a period of the autoscaler with all that follows from it."""

    source: FakeSource = field(default_factory=FakeSource)
    prometheus: FakeSource = field(default_factory=FakeSource)
    autoscaler: Autoscaler = field(init=False)
    changed: list[str] = field(default_factory=list)
    started: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lead()

    def lead(self) -> None:
        """A term of leadership begins: a new process, as far as memory goes."""
        states = ServiceStates()
        self.autoscaler = Autoscaler(
            services=ScaledServices(cache=self.cache, states=states, plan=self.reconciler.plan),
            scaler=ServiceScaler(
                writer=ScaleWriter(cluster=self.cluster, cache=self.cache, now=self._moment),
                changed=lambda key: self.changed.append(key[1]),
                clock=self.seconds,
                period_seconds=10.0,
            ),
            sources={"Pods": self.source, "Prometheus": self.prometheus},
        )
        self.reconciler.scaling = states.report
        self.autoscaler.listen_to(self.cache)

    def scaled(self, *, minimum: int = 1, maximum: int = 8, **autoscaling: Any) -> "ScaledWorld":
        """The world with a service that serves at its minimum and was evaluated."""
        bounds = {"minReplicas": minimum, "maxReplicas": maximum}
        self.apply(spec__autoscaling={**bounds, **(RUNNING | autoscaling)})
        self.reconcile()
        self.settle()
        self.tick(2)
        self.writes()
        return self

    def tick(self, times: int = 1, *, seconds: float = 10.0) -> None:
        """Periods of the autoscaler; pods that it asks for are ready by the next one."""
        for _ in range(times):
            self.round(seconds=seconds)
            self.settle()

    def round(self, *, seconds: float = 10.0) -> None:
        """One period in which no pod comes or goes."""
        self.time += timedelta(seconds=seconds)
        self.source.now = self.prometheus.now = self.time.timestamp()
        asyncio.run(self.autoscaler.scale([*self.autoscaler.services.keys()]))
        for name in {*self.changed}:
            self.reconcile(name)
        self.changed.clear()

    def settle(self) -> None:
        """What the controllers do: as many ready pods as are asked for; those of the lowest cost are stopped first."""
        pods = sorted(self.pods(), key=lambda pod: (deletion_cost(pod), pod["metadata"]["name"]))
        for pod in pods[: max(0, len(pods) - self.replicas)]:
            self.cluster.remove(ref_of(pod))
        for _ in range(self.replicas - len(pods)):
            self.start_pod()
        self._report_counts()

    def start_pod(self, **status: Any) -> str:
        """One more pod of the Deployment, ready unless `status` says otherwise; returns its name."""
        self.started += 1
        name = f"chat-1-{self.started:02d}"
        self.cluster.create(a_pod_of(self.replica_set(), name, **status))
        return name

    def pods(self) -> list[Manifest]:
        """The pods there are."""
        return asyncio.run(self.cluster.list("Pod", NAMESPACE))

    def _report_counts(self) -> None:
        counts = {key: len(self.pods()) for key in ("replicas", "updatedReplicas", "readyReplicas")}

        def report(live: Manifest) -> None:
            live["status"] = {"observedGeneration": live["metadata"]["generation"], **counts}

        ref = Ref("Deployment", NAMESPACE, "chat")
        self.cluster.edit(ref, report, manager="kube-controller-manager", subresource="status")

    def _moment(self) -> datetime:
        """The time, later by a little whenever it is asked for: two events never bear the same name."""
        self.time += timedelta(microseconds=1)
        return self.time

    @property
    def states(self) -> ServiceStates:
        """What the autoscaler remembers."""
        return self.autoscaler.services.states

    @property
    def state(self) -> ServiceState:
        """What it remembers of the only service."""
        (state,) = self.states
        return state

    @property
    def evaluation(self) -> Evaluation:
        """Its last evaluation of the only service."""
        evaluation = self.state.evaluation
        assert evaluation is not None
        return evaluation

    @property
    def replicas(self) -> int:
        """What the Deployment asks for."""
        return int(self.get("Deployment")["spec"]["replicas"])

    @property
    def owners(self) -> set[str]:
        """Who owns the Deployment's replicas."""
        entries = self.get("Deployment")["metadata"]["managedFields"]
        return {item["manager"] for item in entries if "f:replicas" in item["fieldsV1"].get("f:spec", {})}

    @property
    def autoscaling(self) -> dict[str, Any]:
        """`status.autoscaling`."""
        status: dict[str, Any] = self.get("LLMService").get("status", {}).get("autoscaling", {})
        return status

    def events(self) -> list[tuple[str, str]]:
        """Type and reason of the events, the oldest first."""
        events = asyncio.run(self.cluster.list("Event", NAMESPACE))
        return [(item["type"], item["reason"]) for item in events if item["reason"] != "Ready"]


def deletion_cost(pod: Manifest) -> int:
    """The cost by which the ReplicaSet controller orders pods that leave."""
    return int((pod["metadata"].get("annotations") or {}).get(DELETION_COST_ANNOTATION, 0))


def a_pod_of(replica_set: Manifest, name: str, **status: Any) -> Manifest:
    """A ready pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"llmservice.dev/name": "chat"},
            "ownerReferences": [controlled_by(replica_set)],
        },
        "spec": {"containers": [{"name": "engine", "image": "engine"}]},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "engine", "ready": True, "restartCount": 0, "state": {"running": {}}}],
            **status,
        },
    }
