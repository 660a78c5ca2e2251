"""Tokens of a request and requests at once, where the resource says nothing."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.planning.service_plan import ServicePlan
from tests.unit.planning.knowing import LLAMA_8B, LLAMA_70B, SMALL_FACTS, stated, vllm
from tests.unit.planning.planned import HUB, default_of, planned, refused


def _arguments(plan: ServicePlan, flag: str) -> list[str]:
    return [word for word in plan.container.args if word.startswith(flag)]


@pytest.mark.parametrize("longest", [448, 512, 2048])
def test_a_model_with_less_context_is_not_asked_for_more(longest: int) -> None:
    plan = planned(**stated(SMALL_FACTS | {"longestContext": longest}))
    assert plan.max_model_len == longest
    assert _arguments(plan, "--max-model-len") == [f"--max-model-len={longest}"]


def test_a_longer_context_is_not_cut_where_it_fits() -> None:
    assert planned(**vllm(LLAMA_8B, "H100")).max_model_len == 131_072


def test_what_does_not_fit_is_shortened_and_the_reason_names_the_models_own() -> None:
    plan = planned(**vllm())
    assert plan.max_model_len == 30_000
    (reason,) = (each.reason for each in plan.defaults if each.field == "maxModelLen")
    assert "131072" in reason


@pytest.mark.parametrize(
    ("version", "arguments"),
    [("0.33.0", ["--max-model-len=auto"]), ("0.17.1", ["--max-model-len=auto"]), ("0.10.2", [])],
)
def test_of_an_unknown_model_vllm_finds_out(version: str, arguments: list[str]) -> None:
    plan = planned(**vllm("acme/own", engineOptions__version=version))
    assert (plan.max_model_len, default_of(plan, "maxModelLen")) == (0, "auto")
    assert _arguments(plan, "--max-model-len") == arguments


def test_of_an_unknown_model_tgi_finds_out() -> None:
    plan = planned(**vllm("acme/own", engine="tgi"))
    assert _arguments(plan, "--max-total-tokens") + _arguments(plan, "--max-input-tokens") == []
    assert "MAX_BATCH_PREFILL_TOKENS" not in {each["name"] for each in plan.container.environment}


def test_slots_that_are_taken_at_the_start_are_bounded() -> None:
    facts = SMALL_FACTS | {"longestContext": 1_000_000, "kvHeads": 2, "quantization": "Q4_K_M"}
    plan = planned(**HUB, spec__gpu={"type": "H100"}, spec__model__facts=facts)
    assert plan.max_model_len == 32_768


def test_on_a_cpu_the_usual_number_is_no_more_than_the_model_knows() -> None:
    assert planned(spec__model__facts=SMALL_FACTS | {"longestContext": 512}).max_model_len == 512
    assert planned(spec__model__facts=SMALL_FACTS | {"longestContext": 100_000}).max_model_len == 8192


@pytest.mark.parametrize(
    ("changes", "requests"),
    [
        (vllm("acme/own", "T4"), 32),
        (vllm("acme/own", "L4"), 64),
        (vllm("acme/own", "H100"), 256),
        (vllm("acme/own", "L4", engine="tgi"), 64),
        (HUB | {"spec__gpu": {"type": "L4"}}, 4),
    ],
)
def test_requests_at_once_follow_engine_and_device(changes: dict[str, Any], requests: int) -> None:
    plan = planned(**changes)
    assert (plan.max_num_seqs, default_of(plan, "maxNumSeqs")) == (requests, str(requests))


def test_what_the_resource_says_is_taken_as_it_is() -> None:
    plan = planned(**vllm(LLAMA_70B, "H100", 4, maxModelLen=777, maxNumSeqs=3))
    assert (plan.max_model_len, plan.max_num_seqs) == (777, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec__gpu": {"resourceName": "nvidia.com/gpu", "count": 1}},
        {"spec__gpu": {"type": "L4", "shared": True}},
        {"spec__gpu": {"count": 0}},
        {"spec__fit": "Ignore"},
        {"spec__engineOptions": {"args": ["--cpu-offload-gb", "20"]}},
        {"spec__maxNumSeqs": 2048},
    ],
)
def test_where_it_cannot_be_told_what_fits_the_engine_fits_the_length(changes: dict[str, Any]) -> None:
    plan = planned(**vllm() | changes)
    assert _arguments(plan, "--max-model-len") == ["--max-model-len=auto"]
    (reason,) = (each.reason for each in plan.defaults if each.field == "maxModelLen")
    assert "131072" in reason


def test_without_dimensions_the_engine_fits_the_length() -> None:
    plan = planned(**stated({"fileBytes": 16 * 2**30, "dtype": "bfloat16", "longestContext": 131_072}))
    assert plan.max_model_len == 0


def test_on_a_shared_device_the_length_is_ours_when_its_share_is_said() -> None:
    shared = vllm("Qwen/Qwen2.5-1.5B-Instruct", gpu__shared=True)
    assert planned(**shared).max_model_len == 0
    arguments = {"args": ["--gpu-memory-utilization=0.45"]}
    assert planned(**shared, spec__engineOptions=arguments).max_model_len == 32_768


_QWEN = "Qwen/Qwen2.5-7B-Instruct"


def test_more_tokens_than_the_model_takes_are_refused() -> None:
    problem = refused(**vllm(_QWEN, "H100", maxModelLen=65_536))
    assert (problem.reason, problem.field) == (Reason.CONTEXT_TOO_LONG, "spec.maxModelLen")
    assert "32768" in problem.message
    assert "--hf-overrides" in problem.message


@pytest.mark.parametrize(
    "changes",
    [
        {"spec__maxModelLen": 32_768},
        {"spec__engineOptions": {"args": ['--hf-overrides={"rope_scaling":{}}']}},
        {"spec__engineOptions": {"env": [{"name": "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "value": "1"}]}},
        {"spec__engineOptions": {"image": "registry/own:1", "version": "0.33.0"}},
        {"spec__fit": "Warn"},
        {"spec__engine": "tgi"},
        {"spec__model__uri": "mistralai/Mistral-7B-Instruct-v0.3"},
        {"spec__model__uri": "acme/own"},
    ],
)
def test_more_tokens_are_left_to_engines_and_options_that_may_stretch_a_model(changes: dict[str, Any]) -> None:
    plan = planned(**vllm(_QWEN, "H100", maxModelLen=65_536) | changes)
    assert plan.max_model_len in (65_536, 32_768)


def test_what_is_wrong_with_device_fit_and_length_is_said_at_once() -> None:
    changes = vllm(_QWEN, "T4", maxModelLen=65_536, dtype="bfloat16", quantization="awq")
    problem = refused(**changes, spec__engineOptions={"args": ["--num-scheduler-stepz=1", "--port=1"]})
    fields = [line.partition(":")[0] for line in problem.message.splitlines()]
    assert fields == ["spec.engineOptions.args[0]", "spec.engineOptions.args[1]"]
    problem = refused(**changes)
    fields = [line.partition(":")[0] for line in str(problem).splitlines()]
    assert fields == ["spec.quantization", "spec.dtype", "spec.maxModelLen"]
