"""A cluster with a fleet, its operator and its pods; a test changes what it says."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.small_api_server import Answer, Asked, listed, refusal, small_api_server

Json = dict[str, Any]

EXPLANATION: Json = {
    "namespace": "ml",
    "name": "chat",
    "periodSeconds": 10,
    "ageSeconds": 4.0,
    "policy": "Learned",
    "mode": "Active",
    "minReplicas": 1,
    "maxReplicas": 8,
    "conditions": [],
    "decision": {
        "replicas": 3,
        "reason": "LoadRose",
        "message": "14 requests wait: 3 replicas hold them",
        "applied": True,
    },
    "steps": [{"name": "load", "replicas": 2.6, "message": "5.1 requests a second come in"}],
    "pods": [
        {"name": "chat-1", "phase": "Ready", "running": 8, "waiting": 5, "kvCacheUse": 0.81, "tokensPerSecond": 412.0}
    ],
}


def a_service(name: str, *, reason: str = "Ready", message: str = "", ready: int = 2, namespace: str = "ml") -> Json:
    """A resource with a status as the operator writes it."""
    status = "True" if reason == "Ready" else "False"
    return {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {"namespace": namespace, "name": name, "uid": f"uid-{name}", "generation": 1},
        "spec": {
            "engine": "vllm",
            "model": {"uri": "hf://Qwen/Qwen3-8B"},
            "autoscaling": {"minReplicas": 1, "maxReplicas": 8},
        },
        "status": {
            "observedGeneration": 1,
            "replicas": 2,
            "desiredReplicas": 2,
            "readyReplicas": ready,
            "replicaSummary": f"{ready}/2",
            "url": f"http://{name}.{namespace}.svc/v1",
            "conditions": [
                {"type": "Ready", "status": status, "reason": reason, "message": message or "all replicas serve"}
            ],
            "plan": {
                "engineVersion": "0.32.0",
                "image": "docker.io/vllm/vllm-openai:v0.32.0",
                "accelerator": "L4",
                "devices": 1,
                "maxNumSeqs": 32,
                "maxModelLen": 8192,
                "defaults": [{"field": "spec.maxNumSeqs", "value": "32", "reason": "as many as the KV cache holds"}],
                "notes": ["the context is cut to what fits"],
            },
            "startup": {
                "last": {
                    "pod": f"{name}-1",
                    "imageSeconds": 30,
                    "loadSeconds": 80,
                    "warmUpSeconds": 20,
                    "totalSeconds": 130,
                }
            },
            "autoscaling": {
                "replicas": 2,
                "reason": "Steady",
                "message": "2 replicas hold it",
                "decidedAt": "2026-01-01T00:00:00Z",
            },
        },
    }


def a_fleet(size: int) -> list[Json]:
    """Every tenth of them waits for a device."""
    return [
        a_service(
            f"chat-{number:04}",
            reason="Ready" if number % 10 else "InsufficientAccelerators",
            ready=2 if number % 10 else 0,
        )
        for number in range(size)
    ]


def a_pod(name: str, *, ready: bool = True, created: str = "2026-01-01T00:00:00Z") -> Json:
    """A replica of chat."""
    return {
        "metadata": {"name": name, "labels": {"llmservice.dev/name": "chat"}, "creationTimestamp": created},
        "spec": {"nodeName": "gpu-a"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


@dataclass
class FakeCluster:
    """What there is. `answers` False: the API server is away.

    `rights`: by token the namespaces that its owner may read, "" for a list of all; None: everybody may read all.
    """

    services: list[Json] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=lambda: [a_pod("chat-1")])
    explanation: Json = field(default_factory=lambda: EXPLANATION)
    leader_seen: float = 0.0
    answers: bool = True
    lists: int = 0
    rights: dict[str, set[str]] | None = None
    asked: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    headers: set[str] = field(default_factory=set)

    def answer(self, asked: Asked) -> Answer:
        """Status and body of a GET."""
        path = asked.path
        self.asked.append(path)
        self.tokens.add(asked.token)
        self.headers |= asked.headers
        if refused := self._refusal(path, asked.token):
            return refused
        if not self.answers:
            return refusal(503, "ServiceUnavailable", "the server is away")
        lists = {"/pods": self.pods, "/events": self.events}
        if "/proxy/explain/" in path:
            return 200, self.explanation
        found = next((items for part, items in lists.items() if path.endswith(part)), None)
        if found is not None:
            return listed(found)
        return (200, self._lease()) if "/leases/" in path else self._services(path)

    def _refusal(self, path: str, token: str) -> Answer | None:
        """What an API server says to a token that it does not know, or that may not."""
        if self.rights is None:
            return None
        if token not in self.rights:
            return refusal(401, "Unauthorized", "Unauthorized")
        namespace = path.partition("/namespaces/")[2].partition("/")[0]
        if namespace in self.rights[token]:
            return None
        return refusal(403, "Forbidden", f'{path} is forbidden: User "{token}" cannot read it')

    def _services(self, path: str) -> Answer:
        namespace, _, name = path.partition("/namespaces/")[2].partition("/llmservices")
        if not name:
            self.lists += 1
            return listed([each for each in self.services if namespace in {"", each["metadata"]["namespace"]}])
        found = [each for each in self.services if each["metadata"]["name"] == name.strip("/")]
        return (200, found[0]) if found else refusal(404, "NotFound", f"{name} not found")

    def _lease(self) -> Json:
        renewed = (datetime.now(UTC) - timedelta(seconds=self.leader_seen)).isoformat()
        return {"spec": {"holderIdentity": "operator-0_1", "renewTime": renewed, "leaseDurationSeconds": 15}}


@contextmanager
def fake_cluster(folder: Path, cluster: FakeCluster) -> Iterator[Path]:
    """The kubeconfig of the cluster, as long as the block runs."""
    with small_api_server(folder, cluster) as kubeconfig:
        yield kubeconfig
