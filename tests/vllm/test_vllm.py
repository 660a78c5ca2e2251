"""The real vLLM, started by the operator's own rendering: what the engine file says of it is true."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.converging.pod_readings import Reading
from llmservice.engines.vllm.engine import ENGINE as VLLM
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from sandbox import Sandbox
from sandbox.vllm_image import VERSION
from tests.cluster.kube import Kube
from tests.cluster.services import ask
from tests.vllm.services import a_vllm_service, ask_for, is_running, log, page, sum_of, tokens_of

pytestmark = pytest.mark.vllm


def test_it_answers_through_the_service_in_a_restricted_namespace(chat: Kube) -> None:
    answer = ask(chat, max_tokens=8)
    assert answer["model"] == "chat"
    assert answer["usage"]["completion_tokens"] > 0
    assert chat.condition("chat", "Ready")["reason"] == "Ready"


def test_metrics_have_the_names_of_the_catalogue(chat: Kube) -> None:
    ask(chat)
    names = VLLM.metric_names(load_catalogue().engines["vllm"].versions[VERSION])
    assert isinstance(reading_from(scan(page(chat).encode(), wanted(names)), names, 0.0), Reading)


def test_metrics_show_how_full_the_kv_cache_is(chat: Kube) -> None:
    tokens = tokens_of(chat, seconds=15)
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(ask_for, chat, tokens)
        used = chat.wait(lambda: sum_of(chat, "vllm:kv_cache_usage_perc") or None, lambda: "an empty cache")
        assert 0 < used < 1
        assert answer.result() == tokens


def test_a_running_request_is_answered_although_its_pod_is_deleted(chat: Kube) -> None:
    tokens = tokens_of(chat, seconds=30)  # the engine is told to stop 5 s after its pod was deleted
    pod = chat.list("Pod")[0]["metadata"]["name"]
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(ask_for, chat, tokens)
        chat.wait(lambda: sum_of(chat, "vllm:num_requests_running") or None, lambda: "no request runs")
        chat.delete("Pod", pod)
        chat.wait(lambda: "draining in-flight requests count=1" in log(chat, pod), lambda: log(chat, pod))
        assert answer.result() == tokens


@pytest.mark.usefixtures("vllm_node")
def test_a_wrong_argument_is_named(kube: Kube, box: Sandbox) -> None:
    box.model_volume(kube.namespace, "models")
    kube.create(a_vllm_service(args=["--block-size=seven"]))
    message = kube.wait_reason("chat", "EngineArgumentRejected", seconds=300)["message"]
    assert "argument --block-size: invalid" in message
    assert "spec.engineOptions.args" in message


@pytest.mark.usefixtures("vllm_node")
def test_a_pod_that_is_still_starting_ends_long_before_its_grace_period(kube: Kube, box: Sandbox) -> None:
    box.model_volume(kube.namespace, "models")
    kube.create(a_vllm_service())
    kube.wait(lambda: any(is_running(pod) for pod in kube.list("Pod")), lambda: kube.list("Pod"))
    kube.delete("LLMService", "chat")
    kube.wait(lambda: not kube.list("Pod"), lambda: kube.list("Pod"), seconds=60)  # of 330
