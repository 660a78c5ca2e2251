"""Attempts to get more than one's own pods out of the operator, where no cluster is needed. SECURITY.md lists them."""

import json
from typing import Any

import orjson
import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.planning.facts import choose_facts, facts_from_text, facts_to_text
from llmservice.planning.plan import plan_service
from llmservice.rendering.manifests import render
from tests.builders import an_llmservice
from tests.unit.planning.planned import HUB, L4, facts_of, planned, refused

VLLM = {"spec__engine": "vllm", "spec__model__uri": "hf://acme/chat-7B", **L4}
TGI = {**VLLM, "spec__engine": "tgi"}
HARMLESS = {"tgi": ["--rope-factor", "1"]}


@pytest.mark.parametrize(
    ("engine", "argument"),
    [
        (VLLM, "--trust-remote-code"),
        (VLLM, "--trust_remote_code"),
        (VLLM, "--Trust-Remote-Code"),
        (VLLM, "--trust-remote-code=true"),
        (VLLM, "--trust-remote"),
        (VLLM, "--config"),
        (VLLM, "--model"),
        (VLLM, "--host"),
        (VLLM, "--api-key"),
        (VLLM, "--api-key.x=1"),
        (VLLM, "-qawq"),
        (VLLM, "-t"),
        (TGI, "-p8080"),
        (TGI, "--trust-remote-code"),
        (TGI, "--trust-remote-code --port=80"),
        (TGI, "--ngrok"),
        (HUB, "--tools"),
        (HUB, "--mcp-servers-json"),
        (HUB, "--agent"),
        (HUB, "--models-dir"),
    ],
)
def test_an_argument_that_opens_what_the_operator_closed_is_refused(engine: dict[str, Any], argument: str) -> None:
    harmless = HARMLESS.get(engine.get("spec__engine", ""), ["--seed", "1"])
    problem = refused(**engine, spec__engineOptions__args=[*harmless, argument])
    assert problem.reason == Reason.OWNED_ARGUMENT
    assert "spec.engineOptions.args[2]" in problem.message


@pytest.mark.parametrize("argument", ["$(FLAG)", "$(NONE)--trust-remote-code", "--$(FLAG)"])
@pytest.mark.parametrize("engine", [VLLM, TGI, HUB], ids=["vllm", "tgi", "llamacpp"])
def test_a_flag_by_way_of_a_variable_is_refused(engine: dict[str, Any], argument: str) -> None:
    """The kubelet expands $(NAME) when the arguments have passed every check."""
    variable = {"name": "FLAG", "value": "--trust-remote-code"}
    problem = refused(**engine, spec__engineOptions__args=[argument], spec__engineOptions__env=[variable])
    assert problem.reason == Reason.ENGINE_ARGUMENT_REJECTED
    assert "spec.engineOptions.args[0]" in problem.message


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        (VLLM, "VLLM_SERVER_DEV_MODE"),
        (VLLM, "VLLM_API_KEY"),
        (VLLM, "HF_TOKEN"),
        (VLLM, "hf_token"),
        (TGI, "TRUST_REMOTE_CODE"),
        (TGI, "trust_remote_code"),
        (HUB, "LLAMA_ARG_TOOLS"),
        (HUB, "LLAMA_ARG_MCP_SERVERS_JSON"),
        (HUB, "LLAMA_ARG_HOST"),
    ],
)
def test_a_variable_that_opens_what_the_operator_closed_is_refused(engine: dict[str, Any], name: str) -> None:
    problem = refused(**engine, spec__engineOptions__env=[{"name": name, "value": "1"}])
    assert problem.reason == Reason.OWNED_ARGUMENT
    assert "spec.engineOptions.env[0]" in problem.message


def test_code_of_a_models_repository_runs_only_when_the_field_says_so() -> None:
    assert "--trust-remote-code" not in planned(**VLLM).container.args
    assert "--trust-remote-code" in planned(**VLLM, spec__model__trustRemoteCode=True).container.args


OWN_TGI = {**TGI, "spec__engineOptions": {"version": "3.3.7", "image": "registry.example/own:1"}}


def test_an_image_of_ones_own_does_not_run_as_root_because_the_catalogues_does() -> None:
    problem = refused(**OWN_TGI)
    assert problem.field == "spec.pod.securityContext.runAsUser"
    plan = planned(**OWN_TGI, spec__pod__securityContext={"runAsUser": 1000})
    assert (plan.pod.security["runAsUser"], plan.pod.security["runAsNonRoot"]) == (1000, True)
    assert plan.pod_security == "restricted"


@pytest.mark.parametrize(
    "volume",
    [
        {"hostPath": {"path": "/"}},
        {"secret": {"secretName": "keys"}},
        {"claim": {"name": "data", "subPath": "../.."}},
        {"claim": {"name": "data", "namespace": "kube-system"}},
        {"path": "/dev/hugepages", "claim": {"name": "data"}},
        {"path": "/proc/1", "claim": {"name": "data"}},
    ],
)
def test_a_mount_that_reaches_too_far_is_refused(volume: dict[str, Any]) -> None:
    problem = refused(**HUB, **L4, spec__pod__mounts=[{"path": "/data", **volume}])
    assert "spec.pod.mounts[0]" in problem.message


@pytest.mark.parametrize("path", ["/cache", "/models", "/models/lora", "/etc/chat", "/etc", "/data", "/data/below"])
def test_a_mount_in_the_place_of_another_is_refused(path: str) -> None:
    mounts = [{"path": "/data", "claim": {"name": "data"}}, {"path": path, "configMap": {"name": "own"}}]
    files = [{"path": "/etc/chat/t.jinja", "configMapKeyRef": {"name": "chat", "key": "template"}}]
    changes = {"spec__model__uri": "pvc://models/chat.gguf", **L4, "spec__engineOptions__files": files}
    problem = refused(**changes, spec__pod__mounts=mounts)
    assert path in problem.message


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "acme.example/npu"])
def test_what_a_device_needs_comes_with_its_own_resource_only(resource: str) -> None:
    plan = planned(**HUB, spec__gpu={"type": "MI300X", "resourceName": resource})
    assert plan.pod.security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "supplementalGroups" not in plan.pod.security
    assert plan.pod_security == "restricted"


def test_a_part_of_a_device_needs_what_the_device_needs() -> None:
    plan = planned(**HUB, spec__gpu={"type": "MI300X", "resourceName": "amd.com/gpu-part"})
    assert plan.pod.security["seccompProfile"] == {"type": "Unconfined"}
    assert plan.pod_security == "privileged"


def test_facts_forged_into_a_status_cannot_say_more_than_facts() -> None:
    """Nobody is given the right to write a status. Who has it gets a user that Pod Security judges, and no more."""
    forged = orjson.loads(facts_to_text(facts_of(**HUB, **L4)))
    forged["version"] |= {"user": 0, "hostNetwork": True, "volumes": [{"hostPath": {"path": "/"}}]}
    forged["accelerator"] |= {"seccomp_profile": "Unconfined", "privileged": True}
    service = LLMService.parse(an_llmservice(**HUB, **L4))
    facts = facts_from_text(orjson.dumps(forged).decode())
    assert facts is not None
    plan = plan_service(service, facts)
    text = json.dumps(render(plan, 1))
    assert [word for word in ("hostNetwork", "hostPath", "privileged") if word in text] == []
    assert plan.pod_security == "privileged"


def test_facts_of_another_engine_are_not_taken() -> None:
    service = LLMService.parse(an_llmservice(**HUB, **L4))
    kept = facts_of(**HUB, **L4)
    other = facts_to_text(facts_of(**VLLM))
    assert choose_facts(service, load_catalogue(), kept.registry, "", kept=other) == kept
