"""LLMServices for the cluster tests: the smallest one that really serves, and talking to it."""

import json
import time
import urllib.error
import urllib.request
from typing import Any

from tests.cluster.kube import Body, Kube

TINY = "pvc://models/tiny.gguf"
"""The tiny random model on the sandbox's volume."""


def a_tiny_service(name: str = "chat", **spec: Any) -> Body:
    """A CPU service of the tiny model. A value of None leaves a field out."""
    fields = {
        "engine": "llamacpp",
        "model": {"uri": TINY},
        "gpu": {"count": 0},
        "maxModelLen": 512,
        "maxNumSeqs": 2,
        "pod": {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}},
        **spec,
    }
    return {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {"name": name},
        "spec": {key: value for key, value in fields.items() if value is not None},
    }


def on_gpu(count: int = 1, name: str = "chat", **spec: Any) -> Body:
    """The same on GPUs that the sandbox's node pretends to have: its engine computes on the CPU, which is allowed."""
    return a_tiny_service(name, gpu={"type": "L4", "count": count, "verify": False}, **spec)


def ask(kube: Kube, name: str = "chat", question: str = "hello", *, max_tokens: int = 8, seconds: float = 30) -> Body:
    """One chat completion through the Service."""
    body = {"model": name, "max_tokens": max_tokens, "messages": [{"role": "user", "content": question}]}
    request = urllib.request.Request(  # noqa: S310
        f"{address_of(kube, name)}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + 5  # a fresh Service refuses until kube-proxy has written its rules
    while True:
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
                answer: Body = json.load(response)
                return answer
        except urllib.error.URLError as error:
            if isinstance(error, urllib.error.HTTPError) or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def address_of(kube: Kube, name: str = "chat") -> str:
    """The Service by its address."""
    service = kube.get("Service", name)
    assert service is not None
    return f"http://{service['spec']['clusterIP']}"


START_STEPS = ("Starting", "Loading", "Started")
"""Events of a start: how many of them an operator sees depends on how quick it is."""


def event_reasons(kube: Kube, name: str = "chat") -> list[str]:
    """Reasons of the Events about an LLMService, in the order in which they were told, without those of starts."""
    return [reason for reason in _reasons(kube, name) if reason not in START_STEPS]


def start_events(kube: Kube, name: str = "chat") -> list[str]:
    """Reasons of the Events about starts of an LLMService, in the order in which they were told."""
    return [reason for reason in _reasons(kube, name) if reason in START_STEPS]


def _reasons(kube: Kube, name: str) -> list[str]:
    mine = {"kind": "LLMService", "name": name}
    events = [item for item in kube.list("Event") if mine.items() <= item["involvedObject"].items()]
    return [item["reason"] for item in sorted(events, key=lambda item: item["metadata"]["name"])]
