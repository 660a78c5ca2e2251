"""The real CTranslate2 behind its Service: it answers, is read, and drains without a cut stream."""

from typing import Any

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.converging.pod_readings import Reading
from llmservice.engines.ctranslate2.engine import ENGINE
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from sandbox import Sandbox
from sandbox.ctranslate2_image import VERSION
from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service, ask
from tests.engines.ctranslate2.conftest import MODEL_FOLDER
from tests.streams.stage import Stage
from tests.vllm.services import page

pytestmark = pytest.mark.engines

HELD = 4
TOKENS = 1000
"""Of a long stream: some seconds of this model."""


def a_service(**spec: Any) -> Body:
    return a_tiny_service(
        engine="ctranslate2",
        model={"uri": f"pvc://models/{MODEL_FOLDER}"},
        maxModelLen=8192,
        maxNumSeqs=HELD,
        drain={"timeoutSeconds": 120},
        pod={"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}},
        **spec,
    )


def test_it_answers_is_read_and_finishes_what_runs(kube: Kube, operator: Operator, ctranslate2_node: Sandbox) -> None:
    ctranslate2_node.model_volume(kube.namespace, "models")
    kube.create(a_service(replicas=2))
    kube.wait_ready("chat", seconds=180)

    assert ask(kube, max_tokens=5)["usage"]["completion_tokens"] <= 5
    names = ENGINE.metric_names(load_catalogue().engines["ctranslate2"].versions[VERSION])
    reading = reading_from(scan(page(kube).encode(), wanted(names)), names, 0.0)
    assert isinstance(reading, Reading)
    assert (reading.counters.running, reading.counters.waiting) == (0, 0)

    stage = Stage(kube=kube, operator=operator, tokens=TOKENS, held=HELD, least_in_flight=HELD - 1)
    with stage.disturbed("CTranslate2: a pod is deleted") as audience:
        pod = stage.ready_pods()[0]
        kube.delete("Pod", pod)
        stage.wait(lambda: stage.all_replaced({pod}), audience)
    before = stage.pods()
    with stage.disturbed("CTranslate2: an edit, every replica is replaced") as audience:
        stage.edit(maxNumSeqs=HELD + 1)
        stage.wait(lambda: stage.all_replaced(before), audience)
    print(*stage.rows, sep="\n")  # noqa: T201  (worth reading)


def test_a_model_in_another_format_is_told_with_how_to_convert_it(kube: Kube, ctranslate2_node: Sandbox) -> None:
    ctranslate2_node.model_volume(kube.namespace, "models")
    service = a_service()
    service["spec"]["model"] = {"uri": "pvc://models"}  # a GGUF file lies there
    kube.create(service)

    condition = kube.wait_reason("chat", "UnsupportedModelSource", seconds=180)
    assert "ct2-transformers-converter" in condition["message"]
