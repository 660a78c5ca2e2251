"""Our EndpointSlice: what kube-proxy needs of it, and what an activator does."""

import json
from typing import Any

from llmservice.objects.endpoint_slices import Activation, Activator, is_ours, port_of
from llmservice.rendering.activation import activation_slice
from tests.unit.planning.planned import planned, rendered

ONE = Activator("10.0.0.9", "llmservice-system", "llmservice-activator-1")


def a_slice(*endpoints: Activator, start: int | None = None, **changes: Any) -> dict[str, Any]:
    activation = Activation(port=20_007, address_type="IPv4", endpoints=endpoints, start_seconds=start)
    return activation_slice(planned(**changes), activation)


def said(manifest: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest["metadata"]["annotations"]["llmservice.dev/activation"])
    return found


def test_it_is_of_the_service_and_ours() -> None:
    found = a_slice(ONE)
    assert (is_ours(found), port_of(found)) == (True, 20_007)
    assert found["metadata"]["labels"]["kubernetes.io/service-name"] == "chat"
    assert found["ports"][0]["name"] == rendered("Service")["spec"]["ports"][0]["name"]
    assert "spec" not in found


def test_each_activator_is_an_endpoint_with_its_pod() -> None:
    (pod, process) = a_slice(ONE, Activator("10.0.0.10"))["endpoints"]
    assert pod["targetRef"] == {"kind": "Pod", "namespace": "llmservice-system", "name": "llmservice-activator-1"}
    assert "targetRef" not in process
    assert pod["conditions"] == {"ready": True}


def test_it_says_whom_it_holds_for() -> None:
    assert said(a_slice(spec__maxNumSeqs=7, start=42)) == {"models": ["chat"], "concurrency": 7, "startSeconds": 42}
    assert "startSeconds" not in said(a_slice())


def test_it_says_why_no_replica_becomes_ready() -> None:
    wrong = Activation(port=20_007, address_type="IPv4", trouble="WrongArgument", hopeless=True)
    found = said(activation_slice(planned(), wrong))
    assert (found["trouble"], found["hopeless"]) == ("WrongArgument", True)
    assert "trouble" not in said(a_slice())


def test_a_start_that_takes_long_is_waited_for() -> None:
    assert said(a_slice(start=900))["maxWaitSeconds"] == 1800
    assert said(a_slice(start=7200))["maxWaitSeconds"] == 3600


def test_it_is_never_longer_than_an_activator_reads() -> None:
    names = [f"{'x' * 120}{number}" for number in range(16)]
    adapters = [{"name": name, "uri": "pvc://models/a"} for name in names]
    found = a_slice(spec__engine="vllm", spec__model__uri="hf://acme/chat-7B", spec__adapters=adapters)
    assert len(found["metadata"]["annotations"]["llmservice.dev/activation"]) <= 4096
