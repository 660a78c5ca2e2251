"""The real Ollama on the sandbox's kubelet, behind its Service and its proxy."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.cluster.kube import Body, Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import address_of, ask
from tests.engines.ollama.services import an_ollama_service
from tests.local_registry.local_registry import LocalRegistry
from tests.streams.stage import Stage

pytestmark = pytest.mark.engines

MODEL = "tiny/llama:1b"
REFUSED = {307, 403, 404}
"""By the proxy; what Ollama redirects (307) leads to where the proxy refuses."""
HELD, TOKENS = 6, 250
"""Streams at once, for all of which one replica has room: while the other is replaced, none waits."""


def status_of(kube: Kube, method: str, path: str, **body: Any) -> int:
    """The status of the answer to a client's request."""
    request = urllib.request.Request(  # noqa: S310
        f"{address_of(kube)}{path}",
        json.dumps(body).encode() if body else None,
        {"Content-Type": "application/json"},
        method=method,
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        return error.code


def last_start(kube: Kube) -> Body | None:
    """How long the parts of the last start took."""
    body = kube.get("LLMService", "chat") or {}
    found: Body | None = body.get("status", {}).get("startup", {}).get("last")
    return found


def test_a_model_of_a_registry_answers_under_the_names_of_the_resource(kube: Kube, reachable: LocalRegistry) -> None:
    kube.create(
        an_ollama_service(reachable.uri(MODEL), model={"uri": reachable.uri(MODEL), "names": ["chat", "a/b:v1"]})
    )
    kube.wait_ready("chat")
    for name in ("chat", "a/b:v1"):
        assert ask(kube, "chat", max_tokens=5)["usage"]["completion_tokens"] == 5
        assert status_of(kube, "POST", "/api/chat", model=name, messages=[{"role": "user", "content": "hi"}]) == 200
    startup = kube.wait(lambda: last_start(kube), lambda: kube.get("LLMService", "chat"))
    assert {"downloadSeconds", "loadSeconds"} <= startup.keys()


def test_a_client_cannot_change_which_models_there_are(kube: Kube, reachable: LocalRegistry) -> None:
    kube.create(an_ollama_service(reachable.uri(MODEL)))
    kube.wait_ready("chat")
    ask(kube)
    for method, path in (
        ("POST", "/api/pull"),
        ("POST", "/api/create"),
        ("POST", "/api/copy"),
        ("POST", "/api/push"),
        ("DELETE", "/api/delete"),
        ("GET", "/debug/pprof/"),
        ("POST", "/v1/../api/pull"),
        ("POST", "//api/pull"),
        ("POST", "/api/%70ull"),
    ):
        status = status_of(kube, method, path, model="chat", name="chat", source="chat", destination="x")
        assert status in REFUSED, (method, path)
    for path in ("/v1/models", "/api/tags", "/api/ps", "/api/version"):
        assert status_of(kube, "GET", path) == 200
    assert status_of(kube, "POST", "/api/show", model="chat") == 200


def test_why_a_model_cannot_be_fetched_is_told(kube: Kube, reachable: LocalRegistry) -> None:
    kube.create(an_ollama_service(reachable.uri("tiny/other:1b")))
    kube.wait_reason("chat", "ModelNotFound", seconds=180)


def test_no_stream_is_cut_when_a_pod_is_deleted_and_when_all_are_replaced(
    kube: Kube, operator: Operator, reachable: LocalRegistry
) -> None:
    kube.create(an_ollama_service(reachable.uri(MODEL), replicas=2, maxNumSeqs=HELD + 2))
    kube.wait_ready("chat")
    stage = Stage(kube=kube, operator=operator, tokens=TOKENS, held=HELD, least_in_flight=HELD // 2)
    with stage.disturbed("Ollama: a pod is deleted") as audience:
        pod = stage.ready_pods()[0]
        kube.delete("Pod", pod)
        stage.wait(lambda: stage.all_replaced({pod}), audience)
    before = stage.pods()
    with stage.disturbed("Ollama: an edit, every replica is replaced") as audience:
        stage.edit(maxNumSeqs=HELD + 3)
        stage.wait(lambda: stage.all_replaced(before), audience)
    print(*stage.rows, sep="\n")  # noqa: T201  (minutes of a test worth reading)
