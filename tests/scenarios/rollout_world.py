"""The world with hands that play a Deployment's controller during a rollout: one ReplicaSet for each pod template."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from llmservice.objects.names import REVISION_ANNOTATION
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.llmservice import STATUS_AFTER_SECONDS
from tests.builders import with_changes
from tests.scenarios.world import NAMESPACE, World, a_ready_pod

DEPLOYMENT = Ref("Deployment", NAMESPACE, "chat")
SERVICE = Ref("LLMService", NAMESPACE, "chat")
LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}


@dataclass
class RolloutWorld(World):
    """Rollouts of LLMService `chat`, one step of its controllers at a time."""

    revision: int = 0
    pods_made: int = 0
    removed: list[str] = field(default_factory=list)

    def settle(self) -> float | None:
        """Passes of the operator until it wants no other at once."""
        for _ in range(6):
            self.wait(0.001)
            again = self.pass_once()
            if again != STATUS_AFTER_SECONDS:
                return again
        raise AssertionError("it never settles")

    def template_digest(self) -> str:
        """Identifies the pod template that stands in the Deployment."""
        template = self.get("Deployment")["spec"]["template"]
        return hashlib.sha256(orjson.dumps(template, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]

    def replica_set(self, name: str = "chat") -> Manifest:
        """The ReplicaSet of the current template: made or taken up again, with the newest revision."""
        deployment, ref = self.get("Deployment", name), Ref("ReplicaSet", NAMESPACE, f"{name}-{self.template_digest()}")
        if self.cluster.peek(ref) is None:
            owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": True}
            owners = [{**owner, "uid": deployment["metadata"]["uid"]}]
            metadata = {"namespace": NAMESPACE, "name": ref.name, "labels": {"llmservice.dev/name": name}}
            body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {**metadata, "ownerReferences": owners}}
            self.cluster.create({**body, "spec": {}})
        if self._revision_of(ref) != str(self.revision) or not self.revision:
            self.revision += 1
            for each in (ref, DEPLOYMENT):
                self.cluster.edit(each, self._mark, manager="kube-controller-manager")
        return self.get("ReplicaSet", ref.name)

    def _mark(self, live: Manifest) -> None:
        live["metadata"].setdefault("annotations", {})[REVISION_ANNOTATION] = str(self.revision)

    def _revision_of(self, ref: Ref) -> str:
        live = self.cluster.peek(ref)
        annotations = (live["metadata"].get("annotations") if live else None) or {}
        return str(annotations.get(REVISION_ANNOTATION, ""))

    def step(self, *new: dict[str, Any], old: int = 0, late: bool = False) -> None:
        """Pods of the current template with these statuses, and so many ready ones of the templates before."""
        self.wait(1)
        replica_set = self.replica_set()
        self._keep_old(replica_set["metadata"]["uid"], old)
        for status in new:
            pod = a_ready_pod(f"chat-{replica_set['metadata']['name'][-8:]}-{self.pods_made}", "chat", replica_set)
            metadata = {"creationTimestamp": self.time.isoformat().replace("+00:00", "Z")}
            self.cluster.create({**with_changes(pod, status), "metadata": {**pod["metadata"], **metadata}})
            self.pods_made += 1
        counts = {"replicas": len(new) + old, "updatedReplicas": len(new)}
        self.cluster.edit(
            DEPLOYMENT,
            lambda live: live.update(
                status={
                    "observedGeneration": live["metadata"]["generation"],
                    **counts,
                    "conditions": [LATE] if late else [],
                }
            ),
            manager="kube-controller-manager",
            subresource="status",
        )

    def _keep_old(self, current: str, old: int) -> None:
        """Remove the pods of the current template, and of the others all but so many that are ready."""
        for ref, pod in self.pods():
            is_current = pod["metadata"]["ownerReferences"][0]["uid"] == current
            is_ready = pod["status"]["conditions"][0]["status"] == "True"
            if not is_current and is_ready and old > 0:
                old -= 1
                continue
            self.cluster.remove(ref)

    def pods(self) -> list[tuple[Ref, Manifest]]:
        """Every pod there is."""
        refs = [Ref("Pod", NAMESPACE, item["metadata"]["name"]) for item in self.cache.of_kind("Pod")]
        return [(ref, live) for ref in refs if (live := self.cluster.peek(ref))]

    def first(self, replicas: int = 2, **changes: Any) -> "RolloutWorld":
        """The first generation serves with so many replicas; what was written is forgotten."""
        self.apply(spec__replicas=replicas, **changes)
        self.settle()
        self.step(*[READY] * replicas)
        self.settle()
        self.writes()
        return self

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.time += timedelta(seconds=seconds)


READY: dict[str, Any] = {}
_UNREADY = {"status__conditions": [{"type": "Ready", "status": "False"}]}


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    """A pod whose engine waits for this reason."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {**_UNREADY, "status__containerStatuses": [{"name": "engine", "ready": False, "state": state}]}


def crashing(restarts: int, message: str = "error: invalid argument: --nonsense") -> dict[str, Any]:
    """A pod whose engine ended with an error so many times and once more."""
    end = {"terminated": {"exitCode": 1, "reason": "Error", "message": message}}
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    engine = {"name": "engine", "ready": False, "started": False, "restartCount": restarts}
    return {**_UNREADY, "status__containerStatuses": [{**engine, "state": state, "lastState": end}]}


def loading(since: datetime | None = None) -> dict[str, Any]:
    """A pod whose engine runs and is not ready."""
    state = {"running": {"startedAt": f"{since:%Y-%m-%dT%H:%M:%SZ}"} if since else {}}
    engine = {"name": "engine", "ready": False, "started": False, "restartCount": 0, "state": state}
    return {**_UNREADY, "status__containerStatuses": [engine]}


def unschedulable() -> dict[str, Any]:
    """A pod that no node takes."""
    message = "0/1 nodes are available: 1 Insufficient cpu."
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    conditions = [{"type": "Ready", "status": "False"}, scheduled]
    return {"status__conditions": conditions, "status__phase": "Pending", "status__containerStatuses": []}
