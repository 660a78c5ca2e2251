"""The KV cache of the real vLLM drives replicas: made small, it fills, and another replica is ordered."""

import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.converging.scaled_pods import PodPhase, scaled_pods
from llmservice.engines.vllm.engine import ENGINE as VLLM
from llmservice.signals.samples import wanted
from sandbox import Sandbox
from sandbox.vllm_image import VERSION
from tests.cluster.kube import Kube
from tests.cluster.services import address_of, ask
from tests.load.in_flight import InFlight
from tests.recorded_load import RecordedLook, save
from tests.vllm.services import a_vllm_service

pytestmark = pytest.mark.vllm

SLOTS = 4
PROMPT_TOKENS, GENERATED_TOKENS = 600, 600
BLOCKS = 42
"""Of 128 tokens each, on the CPU: room for four requests at their full length, so that none is preempted.

A request holds 5 of them at its beginning and 10 at its end. So while all slots are taken, the cache is half full to
full, three quarters on average, whatever the machine's speed.
"""
IN_FLIGHT = SLOTS + 2
"""Some always wait for a slot, so that none is ever empty; the target for the queue is out of their reach."""

AUTOSCALING = {
    "minReplicas": 1,
    "maxReplicas": 2,
    "policy": "Threshold",
    "targets": {"kvCachePercent": 50, "queuedRequests": 1000},
}
KV_USE = "vllm:kv_cache_usage_perc"
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

    def kv_use(self) -> list[dict[str, float]]:
        """The share of its KV cache that each pod has used at each look."""
        return [{pod: _value(page, KV_USE) for pod, page in look.pages.items()} for look in self.looks]


def test_a_full_kv_cache_orders_another_replica(kube: Kube, vllm_node: Sandbox) -> None:
    vllm_node.model_volume(kube.namespace, "models")
    body = a_vllm_service(args=["--num-gpu-blocks-override", str(BLOCKS)])
    body["spec"] |= {"maxModelLen": 1536, "maxNumSeqs": SLOTS, "autoscaling": AUTOSCALING}
    body["spec"]["pod"] = {
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "4Gi"}}
    }
    kube.create(body)
    kube.wait_ready("chat", seconds=600)
    ask(kube)  # a fresh Service refuses until kube-proxy has written its rules
    recorder, load = Recorder(kube), InFlight(address_of(kube), IN_FLIGHT, GENERATED_TOKENS, "x" * PROMPT_TOKENS)

    def measured() -> dict[str, Any]:
        return {"load": load.measured(), "kvUse": recorder.kv_use(), "status": _status(kube)}

    with recorder, load:
        kube.wait(lambda: _asked(kube) == 2, measured, seconds=240)
        kube.wait(lambda: _status(kube).get("readyReplicas") == 2, measured, seconds=600)
        time.sleep(30)  # what two of them make of it is recorded too
    save(RECORDING, recorder.looks)

    message = kube.kubectl("get", "events", "--field-selector", "reason=ScaledUp", "-o", "jsonpath={.items[*].message}")
    assert message.startswith("1 → 2: KV cache "), measured()
    assert load.failed == []


def _page(address: str, names: tuple[str, ...]) -> str:
    """The lines of /metrics that the operator reads."""
    with urllib.request.urlopen(f"http://{address}:8000/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return "\n".join(line for line in lines if line.startswith(names)) + "\n"


def _asked(kube: Kube) -> int:
    deployment = kube.get("Deployment", "chat") or {}
    return int(deployment.get("spec", {}).get("replicas", 1))


def _status(kube: Kube) -> dict[str, Any]:
    body = kube.get("LLMService", "chat") or {}
    status: dict[str, Any] = body.get("status", {})
    return status


def _value(page: str, metric: str) -> float:
    return sum(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(f"{metric}{{"))
