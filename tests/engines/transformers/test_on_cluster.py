"""The real `transformers serve` behind its proxy and its Service: it answers by its name, is counted, and drains."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from llmservice.converging.pod_readings import Reading
from llmservice.engines.proxied import PROXY_METRIC_NAMES
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from sandbox import Sandbox
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, address_of, ask
from tests.engines.transformers.conftest import MODEL_FOLDER
from tests.engines.transformers.listeners import Listeners
from tests.streams.stage import Stage
from tests.vllm.services import page

pytestmark = pytest.mark.engines

CLIENTS, TOKENS = 4, 250
_READY_SECONDS = 300


def a_service(**spec: Any) -> Body:
    return a_tiny_service(
        engine="transformers",
        model={"uri": f"pvc://models/{MODEL_FOLDER}"},
        maxModelLen=1024,
        maxNumSeqs=CLIENTS,
        drain={"timeoutSeconds": 120},
        pod={"resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "3Gi"}}},
        **spec,
    )


def status_of(kube: Kube, path: str, body: Body) -> int:
    """The status of a POST through the Service."""
    content, header = json.dumps(body).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address_of(kube)}{path}", content, header)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_it_answers_by_its_name_and_finishes_what_runs(
    kube: Kube, operator: Operator, transformers_node: Sandbox
) -> None:
    transformers_node.model_volume(kube.namespace, "models")
    kube.create(a_service(replicas=2))
    kube.wait_ready("chat", seconds=_READY_SECONDS)

    assert ask(kube, max_tokens=5, seconds=60)["usage"]["completion_tokens"] == 5
    assert status_of(kube, "/v1/completions", {"model": "another", "prompt": "a"}) == 400
    assert status_of(kube, "/reset", {}) == 403
    assert status_of(kube, "/load_model", {"model": "acme/other"}) == 403
    reading = reading_from(scan(page(kube).encode(), wanted(PROXY_METRIC_NAMES)), PROXY_METRIC_NAMES, 0.0)
    assert isinstance(reading, Reading)
    assert (reading.counters.running, reading.counters.waiting) == (0, 0)

    stage = Stage(kube=kube, operator=operator, tokens=TOKENS)
    with Listeners(address_of(kube), CLIENTS, TOKENS) as listeners:
        _wait(kube, listeners.all_begun, listeners)
        pod = stage.ready_pods()[0]
        kube.delete("Pod", pod)
        _wait(kube, lambda: stage.all_replaced({pod}) and stage.is_settled(), listeners)
        before = stage.pods()
        _wait(kube, listeners.all_begun, listeners)
        stage.edit(maxNumSeqs=CLIENTS + 1)
        _wait(kube, lambda: stage.all_replaced(before) and stage.is_settled(), listeners)
    print(f"{listeners.whole} whole streams of {TOKENS} tokens, {len(listeners.problems)} others")  # noqa: T201
    assert listeners.problems == []
    assert listeners.whole > CLIENTS


def _wait(kube: Kube, look: Any, listeners: Listeners) -> None:
    kube.wait(lambda: True if look() else None, lambda: [listeners.whole, listeners.problems[:5]], _READY_SECONDS)
