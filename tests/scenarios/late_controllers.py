"""The controllers of Kubernetes, as far as a service needs them: pods, counts, endpoints, garbage; once a second."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from llmservice.objects.references import Manifest, Ref, controller_uid, ref_of, uid_of
from tests.scenarios.late_cluster import LateGarbage
from tests.scenarios.world import NAMESPACE, a_ready_pod

_SWEPT_EVERY = 3
_DEVICE = {"limits": {"nvidia.com/gpu": "1", "memory": "8Gi"}}


@dataclass
class Controllers:
    """All of them; `made` counts pods."""

    cluster: LateGarbage
    now: Callable[[], datetime]
    made: int = 0

    async def run(self) -> NoReturn:
        """Until cancelled."""
        rounds = 0
        while True:
            await asyncio.sleep(1)
            rounds += 1
            if rounds % _SWEPT_EVERY == 0:
                self.cluster.sweep()
            for deployment in self.cluster.all("Deployment"):
                self._converge(deployment)

    def _converge(self, deployment: Manifest) -> None:
        replica_set = self._replica_set(deployment)
        pods = [pod for pod in self.cluster.all("Pod") if controller_uid(pod) == uid_of(replica_set)]
        wanted = deployment["spec"]["replicas"]
        for pod in pods[wanted:]:
            self.cluster.remove(ref_of(pod))
        for _ in range(wanted - len(pods)):
            self._start(deployment, replica_set)
        self._count(deployment, wanted)

    def _replica_set(self, deployment: Manifest) -> Manifest:
        name, uid = deployment["metadata"]["name"], uid_of(deployment)
        ref = Ref("ReplicaSet", NAMESPACE, f"{name}-{uid[-6:]}")
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid, "controller": True}
        metadata = {
            "namespace": NAMESPACE,
            "name": ref.name,
            "labels": {"llmservice.dev/name": name},
            "ownerReferences": [owner],
        }
        body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {}}
        return self.cluster.peek(ref) or self.cluster.create(body)

    def _start(self, deployment: Manifest, replica_set: Manifest) -> None:
        self.made += 1
        moment = self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        pod = a_ready_pod(f"pod-{self.made}", deployment["metadata"]["name"], replica_set)
        pod["spec"] |= {"nodeName": "node-a"}
        pod["spec"]["containers"][0]["resources"] = _DEVICE
        conditions: list[Any] = [
            {"type": kind, "status": "True", "lastTransitionTime": moment} for kind in ("PodScheduled", "Ready")
        ]
        pod["status"] |= {"podIP": f"10.0.0.{self.made % 250}", "conditions": conditions}
        self.cluster.create(pod)

    def _count(self, deployment: Manifest, wanted: int) -> None:
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), wanted)
        status = {"observedGeneration": deployment["metadata"]["generation"], **counts}

        def report(live: Manifest) -> None:
            live["status"] = status

        if (deployment.get("status") or {}) != status:
            self.cluster.edit(ref_of(deployment), report, manager="kube-controller-manager", subresource="status")
