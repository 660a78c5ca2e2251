"""Objects as the API server sends them."""

from typing import Any

from llmservice.objects.references import Manifest


def a_deployment(name: str = "chat", *, version: int = 1, service: str = "", **metadata: Any) -> Manifest:
    labels = {"llmservice.dev/name": service} if service else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "namespace": "default",
            "name": name,
            "resourceVersion": str(version),
            "labels": labels,
            **metadata,
        },
        "spec": {"replicas": 1},
    }
