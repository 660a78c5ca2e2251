"""Adapters of the real vLLM: loaded and unloaded while it runs, and named where they cannot be."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.tiny_adapter import write_tiny_adapter
from tests.cluster.kube import Body, Kube
from tests.cluster.services import address_of
from tests.vllm.services import a_vllm_service

pytestmark = pytest.mark.vllm

LAW = {"name": "law", "uri": "pvc://models/law-adapter"}
TAX = {"name": "tax", "uri": "pvc://models/tax-adapter"}


@pytest.fixture
def adapters(box: Sandbox) -> None:
    """Two adapters beside the model, and a folder that is none."""
    for seed, name in enumerate(("law", "tax")):
        write_tiny_adapter(Path(box.spec.models, f"{name}-adapter"), seed)
    Path(box.spec.models, "no-adapter").mkdir(exist_ok=True)


@pytest.mark.usefixtures("vllm_node", "adapters")
def test_adapters_come_and_go_without_a_new_start(kube: Kube, box: Sandbox) -> None:
    box.model_volume(kube.namespace, "models")
    service = a_vllm_service()
    service["spec"] |= {"adapterUpdates": "Live", "adapters": [LAW]}
    kube.create(service)
    kube.wait_ready("chat", seconds=600)
    starts = engines(kube)
    told(kube, ["chat", "law"])
    assert answer(kube, "law") != answer(kube, "chat")

    kube.patch("LLMService", "chat", {"spec": {"adapters": [TAX]}})
    told(kube, ["chat", "tax"])
    assert answer(kube, "tax")
    with pytest.raises(urllib.error.HTTPError) as refused:
        answer(kube, "law")
    assert refused.value.code == 404

    kube.patch("LLMService", "chat", {"spec": {"adapters": [TAX, {"name": "none", "uri": "pvc://models/no-adapter"}]}})
    kube.wait_reason("chat", "AdapterRejected", kind="AdaptersLoaded")
    assert [each["readyReplicas"] for each in status(kube)["adapters"]] == [1, 0]
    assert status(kube)["models"] == ["chat", "tax"]
    assert engines(kube) == starts


def status(kube: Kube) -> Body:
    live = kube.get("LLMService", "chat")
    assert live is not None
    found: Body = live["status"]
    return found


def told(kube: Kube, models: list[str]) -> None:
    """Wait until the status says that clients may ask for these."""
    kube.wait(lambda: status(kube).get("models") == models or None, lambda: status(kube), seconds=60)


def engines(kube: Kube) -> dict[str, Any]:
    """How often the engine of each pod was started."""
    return {pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"] for pod in kube.list("Pod")}


def answer(kube: Kube, model: str) -> str:
    """What it says, the same each time."""
    body = {"model": model, "prompt": "hello", "max_tokens": 12, "temperature": 0, "ignore_eos": True}
    request = urllib.request.Request(  # noqa: S310
        f"{address_of(kube)}/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310
        text: str = json.load(response)["choices"][0]["text"]
        return text
