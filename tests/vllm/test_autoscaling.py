"""The KV cache of the real vLLM drives replicas: made small, it fills, and another replica is ordered."""

import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.converging.scaled_pods import PodPhase, scaled_pods
from llmservice.engines.vllm import VLLM
from llmservice.signals.samples import wanted
from sandbox import Sandbox
from sandbox.vllm_image import VERSION
from tests.cluster.kube import Kube
from tests.load.load import Load, Stretch
from tests.recorded_load import RecordedLook, save
from tests.vllm.services import a_vllm_service

pytestmark = pytest.mark.vllm

BLOCKS = 24
"""Of 128 tokens each, on the CPU: two requests of full length fill the cache."""

AUTOSCALING = {
    "minReplicas": 1,
    "maxReplicas": 2,
    "policy": "Threshold",
    "targets": {"kvCachePercent": 50, "queuedRequests": 1000},
}
RECORDING = Path(__file__).parents[2] / "build" / "load" / "vllm-kv-cache.json.gz"


@dataclass
class Recorder:
    """Looks at the pods every ten seconds, as the operator does, while the `with` block runs."""

    kube: Kube
    looks: list[RecordedLook] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="recorder")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        names = tuple(wanted(VLLM.metric_names(load_catalogue().engines["vllm"].versions[VERSION])))
        while not self._stop.wait(10):
            pods = scaled_pods(self.kube.list("Pod"))
            deployment = self.kube.get("Deployment", "chat") or {"spec": {}}
            pages = {pod.name: _page(pod.address, names) for pod in pods if pod.phase is PodPhase.READY}
            self.looks.append(RecordedLook(round(time.time(), 2), deployment["spec"].get("replicas", 1), pods, pages))


def test_a_full_kv_cache_orders_another_replica(kube: Kube, vllm_node: Sandbox) -> None:
    vllm_node.model_volume(kube.namespace, "models")
    body = a_vllm_service(args=["--num-gpu-blocks-override", str(BLOCKS)])
    body["spec"] |= {"maxModelLen": 1536, "maxNumSeqs": 4, "autoscaling": AUTOSCALING}
    body["spec"]["pod"] = {
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "4Gi"}}
    }
    kube.create(body)
    kube.wait_ready("chat", seconds=600)
    recorder = Recorder(kube)
    with recorder, Load(kube, [Stretch(60, 0.4)], max_tokens=600) as load:
        kube.wait(lambda: _asked(kube) == 2 or None, lambda: kube.get("LLMService", "chat"), seconds=240)
        kube.wait(lambda: _ready(kube) == 2 or None, lambda: kube.get("LLMService", "chat"), seconds=600)
        while load.running:
            time.sleep(1)
        time.sleep(20)
    save(RECORDING, recorder.looks)

    message = kube.kubectl("get", "events", "--field-selector", "reason=ScaledUp", "-o", "jsonpath={.items[*].message}")
    assert message.startswith("1 → 2: KV cache ")
    assert load.failed == []


def _page(address: str, names: tuple[str, ...]) -> str:
    """The lines of /metrics that the operator reads."""
    with urllib.request.urlopen(f"http://{address}:8000/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return "\n".join(line for line in lines if line.startswith(names)) + "\n"


def _asked(kube: Kube) -> int:
    deployment = kube.get("Deployment", "chat") or {}
    return int(deployment.get("spec", {}).get("replicas", 1))


def _ready(kube: Kube) -> int:
    body = kube.get("LLMService", "chat") or {}
    return int(body.get("status", {}).get("readyReplicas", 0))
