"""A small world for the reconciler: an in-memory cluster, the resource's cache, and hands that play the controllers."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from llmservice.catalog.loader import load_catalogue
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import STATUS_AFTER_SECONDS, LLMServiceReconciler
from llmservice.reconcilers.observing import Observer
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.rendering.manifests import CHILD_KINDS
from tests.builders import an_llmservice
from tests.in_memory_cluster.cluster import InMemoryCluster

NAMESPACE = "ml"


@dataclass
class World:
    """One namespace with an operator that works only when told to."""

    cache: ObjectCache = field(default_factory=ObjectCache)
    time: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    cluster: InMemoryCluster = field(init=False)
    reconciler: LLMServiceReconciler = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = InMemoryCluster(cache=self.cache, now=lambda: self.time)
        self.reconciler = LLMServiceReconciler(
            cluster=self.cluster,
            cache=self.cache,
            observer=Observer(cluster=self.cluster, cache=self.cache, child_kinds=CHILD_KINDS),
            plan=CataloguePlanner(load_catalogue()),
            now=lambda: self.time,
        )
        self.reconciler.children.clock = self.reconciler.status.clock = self.reconciler.rollouts.clock = self.seconds
        self.cache.listen(self.reconciler.forget)

    def seconds(self) -> float:
        """The time, since 1970."""
        return self.time.timestamp()

    def apply(self, name: str = "chat", **changes: Any) -> Manifest:
        """What a user does with kubectl: create the resource, or replace its spec."""
        body = an_llmservice(metadata__name=name, metadata__namespace=NAMESPACE, metadata__uid=None, **changes)
        ref = Ref("LLMService", NAMESPACE, name)
        if self.cluster.peek(ref) is None:
            return self.cluster.create(body)
        return self.cluster.edit(ref, lambda live: live.update(spec=body["spec"]))

    def reconcile(self, name: str = "chat") -> float | None:
        """One pass of the operator, and the one that tells what it has begun."""
        again = self.pass_once(name)
        return self.pass_once(name) if again == STATUS_AFTER_SECONDS else again

    def pass_once(self, name: str = "chat") -> float | None:
        """One pass of the operator."""
        return asyncio.run(self.reconciler((NAMESPACE, name)))

    def get(self, kind: str, name: str = "chat") -> Manifest:
        """The live object, which must be there."""
        live = self.cluster.peek(Ref(kind, NAMESPACE, name))
        assert live is not None, f"no {kind} {name}"
        return live

    def fail(self, verb: str, kind: str, error: BaseException) -> None:
        """From now on the API server answers each of these calls with this error."""

        def before(called: str, ref: Ref) -> None:
            if (called, ref.kind) == (verb, kind):
                raise error

        self.cluster.before = before

    def exists(self, kind: str, name: str = "chat") -> bool:
        """Whether the object is there."""
        return self.cluster.peek(Ref(kind, NAMESPACE, name)) is not None

    def roll_out(self, name: str = "chat") -> None:
        """What the Deployment's controller and the kubelet do: pods of the current template, all ready."""
        deployment = self.get("Deployment", name)
        wanted = deployment["spec"]["replicas"]
        for pod in asyncio.run(self.cluster.list("Pod", NAMESPACE, label_selector="llmservice.dev/name")):
            self.cluster.remove(Ref("Pod", NAMESPACE, pod["metadata"]["name"]))
        replica_set = self.replica_set(name)
        for number in range(wanted):
            self.cluster.create(a_ready_pod(f"{name}-{number}", name, replica_set))

        def report(live: Manifest) -> None:
            counts = {"replicas": wanted, "updatedReplicas": wanted, "readyReplicas": wanted}
            live["status"] = {"observedGeneration": live["metadata"]["generation"], **counts}

        self.cluster.edit(
            Ref("Deployment", NAMESPACE, name), report, manager="kube-controller-manager", subresource="status"
        )

    def replica_set(self, name: str = "chat") -> Manifest:
        """The one ReplicaSet of the Deployment, made when there is none."""
        deployment = self.get("Deployment", name)
        uid = deployment["metadata"]["uid"]
        ref = Ref("ReplicaSet", NAMESPACE, f"{name}-{uid[-4:]}")
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid, "controller": True}
        labels = {"llmservice.dev/name": name}
        metadata = {"namespace": NAMESPACE, "name": ref.name, "labels": labels, "ownerReferences": [owner]}
        body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {}}
        return self.cluster.peek(ref) or self.cluster.create(body)

    def scale(self, replicas: int, manager: str, name: str = "chat") -> None:
        """Another writer of the Deployment's replicas: an HPA, KEDA, an autoscaler."""
        asyncio.run(self.cluster.apply_scale(Ref("Deployment", NAMESPACE, name), replicas, manager=manager))

    def condition(self, kind: str = "Ready", name: str = "chat") -> dict[str, Any]:
        """A condition of the resource; empty when it has none."""
        conditions = self.get("LLMService", name).get("status", {}).get("conditions") or ()
        return next((item for item in conditions if item["type"] == kind), {})

    def writes(self) -> list[str]:
        """What was written since the last call, as "verb Kind name"."""
        done = [f"{verb} {ref.kind} {ref.name}" for verb, ref in self.cluster.writes]
        self.cluster.writes.clear()
        return done

    def serving(self, **changes: Any) -> "World":
        """The world with a resource that serves; its writes are forgotten."""
        self.apply(**changes)
        self.reconcile()
        self.roll_out()
        self.reconcile()
        self.writes()
        return self


def a_ready_pod(name: str, service: str, replica_set: Manifest | None) -> Manifest:
    """A pod that serves; without a ReplicaSet it is a stranger's."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"llmservice.dev/name": service},
            "ownerReferences": [controlled_by(replica_set)] if replica_set else [],
        },
        "spec": {"containers": [{"name": "engine", "image": "engine"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "engine", "ready": True, "restartCount": 0, "state": {"running": {}}}],
        },
    }


def controlled_by(replica_set: Manifest) -> Manifest:
    """The owner reference of its pods."""
    names = {key: replica_set["metadata"][key] for key in ("name", "uid")}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", **names, "controller": True}
