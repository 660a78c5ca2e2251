"""Kinds of model, adapters, projectors and draft models on real engines, asked through the Service."""

import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.tiny_pooled import tiny_adapter, tiny_embedder, tiny_reranker
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, address_of, ask

pytestmark = [pytest.mark.engines, pytest.mark.cluster, pytest.mark.sandbox]

FILES = {"embedder.gguf": tiny_embedder, "reranker.gguf": tiny_reranker, "adapter.gguf": tiny_adapter}
LONG = "word " * 180


@pytest.fixture
def models(box: Sandbox, kube: Kube) -> Iterator[None]:
    """The claim `models` in the test's namespace, with what these tests serve beside the tiny model."""
    for name, content in FILES.items():
        Path(box.spec.models, name).write_bytes(content())
    box.model_volume(kube.namespace, "models")
    yield
    for name in FILES:
        Path(box.spec.models, name).unlink(missing_ok=True)


def post(kube: Kube, path: str, body: Any, name: str = "chat") -> Any:
    """JSON to the Service, and its answer; a fresh Service refuses until kube-proxy has written its rules."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address_of(kube, name)}{path}", json.dumps(body).encode(), headers)  # noqa: S310
    deadline = time.monotonic() + 5
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
                return json.load(response)
        except urllib.error.URLError as error:
            if isinstance(error, urllib.error.HTTPError) or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def said(kube: Kube, **more: Any) -> str:
    """What the model says to a question, the same each time."""
    body = {"prompt": "hello", "max_tokens": 12, "temperature": 0, "ignore_eos": True, **more}
    text: str = post(kube, "/v1/completions", body)["choices"][0]["text"]
    return text


def status(kube: Kube) -> Body:
    live = kube.get("LLMService", "chat")
    assert live is not None
    found: Body = live["status"]
    return found


@pytest.mark.usefixtures("models")
def test_an_embedding_model_answers_prompts_as_long_as_a_request_may_be(kube: Kube) -> None:
    """They are computed in one step, which is longer than the engine's usual one."""
    facts = {"task": "Embed", "longestContext": 4096}
    kube.create(a_tiny_service(model={"uri": "pvc://models/embedder.gguf", "facts": facts}, maxModelLen=1024))
    kube.wait_ready("chat", seconds=180)
    assert status(kube)["plan"]["task"] == "Embed"
    answer = post(kube, "/v1/embeddings", {"model": "chat", "input": ["hello", LONG]})
    vectors = [item["embedding"] for item in answer["data"]]
    assert [len(vector) for vector in vectors] == [64, 64]
    assert [math.hypot(*vector) for vector in vectors] == [pytest.approx(1.0, abs=1e-3)] * 2
    assert vectors[0] != vectors[1]


@pytest.mark.usefixtures("models")
def test_a_reranker_puts_documents_into_an_order(kube: Kube) -> None:
    model = {"uri": "pvc://models/reranker.gguf", "task": "Rerank", "inspect": "Never"}
    kube.create(a_tiny_service(model=model))
    kube.wait_ready("chat")
    body = {"model": "chat", "query": "hello", "documents": ["a b c", "zz", "hello"]}
    scores = {item["index"]: item["relevance_score"] for item in post(kube, "/v1/rerank", body)["results"]}
    assert sorted(scores) == [0, 1, 2]
    assert len(set(scores.values())) > 1


@pytest.mark.usefixtures("models")
def test_an_adapter_is_applied_and_taken_away_in_a_running_replica(kube: Kube) -> None:
    """The engine of the pod is never started again, and an adapter for one request alone is asked for by its number."""
    adapter = {"name": "law", "uri": "pvc://models/adapter.gguf"}
    kube.create(a_tiny_service(adapters=[adapter], adapterUpdates="Live"))
    kube.wait_ready("chat")
    plain, pods = said(kube), pod_names(kube)
    asked_for = said(kube, lora=[{"id": 0, "scale": 1.0}])
    assert asked_for != plain
    kube.patch("LLMService", "chat", {"spec": {"adapters": [{**adapter, "apply": "Always"}]}})
    kube.wait(lambda: said(kube) == asked_for or None, lambda: status(kube), seconds=30)
    kube.patch("LLMService", "chat", {"spec": {"adapters": [adapter]}})
    kube.wait(lambda: said(kube) == plain or None, lambda: status(kube), seconds=30)
    assert pod_names(kube) == pods
    kube.wait(lambda: loaded(kube) or None, lambda: status(kube), seconds=30)
    assert status(kube)["adapters"] == [{"name": "law", "readyReplicas": 1}]


@pytest.mark.usefixtures("models")
def test_a_replica_that_is_started_again_gets_its_adapters_again(kube: Kube) -> None:
    adapter = {"name": "law", "uri": "pvc://models/adapter.gguf", "apply": "Always"}
    kube.create(a_tiny_service(adapters=[adapter], adapterUpdates="Live"))
    kube.wait_ready("chat")
    kube.wait(lambda: loaded(kube) or None, lambda: status(kube), seconds=30)
    adapted = said(kube)
    (before,) = pod_names(kube)
    kube.delete("Pod", before)
    kube.wait(lambda: before not in pod_names(kube) or None, lambda: pod_names(kube), seconds=60)
    kube.wait_ready("chat")
    kube.wait(lambda: said(kube) == adapted or None, lambda: status(kube), seconds=30)


@pytest.mark.usefixtures("models")
def test_a_draft_model_guesses_for_the_model(kube: Kube) -> None:
    draft = {"uri": "pvc://models/tiny.gguf", "tokens": 4}
    kube.create(a_tiny_service(model={"uri": "pvc://models/tiny.gguf", "draft": draft}))
    kube.wait_ready("chat")
    ask(kube, max_tokens=24)
    with urllib.request.urlopen(f"{address_of(kube)}/metrics", timeout=10) as page:  # noqa: S310
        lines = page.read().decode().splitlines()
    (drafted,) = (line for line in lines if line.startswith("llamacpp:spec_decode_num_draft_tokens_total "))
    assert float(drafted.split()[1]) > 0


def pod_names(kube: Kube) -> set[str]:
    return {pod["metadata"]["name"] for pod in kube.list("Pod") if not pod["metadata"].get("deletionTimestamp")}


def loaded(kube: Kube) -> bool:
    conditions = status(kube)["conditions"]
    return any((each["type"], each["status"]) == ("AdaptersLoaded", "True") for each in conditions)
