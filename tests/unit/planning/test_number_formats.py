"""Number formats that device, engine and checkpoint have in common."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import ModelFacts
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.known_model import KnownModel
from llmservice.planning.plan import plan_service
from tests.builders import an_llmservice
from tests.unit.planning.knowing import SMALL_FACTS, stated, vllm
from tests.unit.planning.planned import HUB, default_of, planned, refused

_BFLOAT16 = SMALL_FACTS | {"dtype": "bfloat16"}


@pytest.mark.parametrize(
    ("facts", "gpu", "dtype"),
    [
        (_BFLOAT16, "T4", "float16"),
        (_BFLOAT16 | {"architecture": "Gemma3ForCausalLM"}, "T4", "float32"),
        (_BFLOAT16, "L4", ""),
        (SMALL_FACTS, "T4", ""),
        (_BFLOAT16, "MI300X", ""),
    ],
)
def test_the_format_is_named_where_the_device_lacks_the_checkpoints(
    facts: dict[str, Any], gpu: str, dtype: str
) -> None:
    plan = planned(**stated(facts, gpu))
    assert default_of(plan, "dtype") == dtype
    assert [word for word in plan.container.args if word.startswith("--dtype")] == [f"--dtype={dtype}"] * bool(dtype)


def test_a_model_that_works_in_no_format_of_device_and_engine_is_refused() -> None:
    gemma = stated(_BFLOAT16 | {"architecture": "Gemma3ForCausalLM"}, "T4", engine="tgi")
    problem = refused(**gemma)
    assert (problem.reason, problem.field) == (Reason.UNSUPPORTED_BY_DEVICE, "spec.gpu.type")
    assert planned(**gemma, spec__dtype="float16").container.args


def test_a_format_of_the_resource_is_no_default() -> None:
    assert default_of(planned(**stated(_BFLOAT16, "T4", dtype="float16")), "dtype") == ""


@pytest.mark.parametrize(
    ("checkpoint", "asked", "named"),
    [
        ({}, "fp8", "online-fp8"),
        ({}, "awq", "awq"),
        ({"quantization": "awq"}, "gptq", "awq"),
        ({"quantization": "awq"}, "online-fp8", "awq"),
        ({"quantization": "compressed-tensors"}, "fp8", "compressed-tensors"),
    ],
)
def test_what_the_checkpoint_is_not_is_refused(checkpoint: dict[str, str], asked: str, named: str) -> None:
    problem = refused(**stated(_BFLOAT16 | checkpoint, quantization=asked))
    assert (problem.reason, problem.field) == (Reason.QUANTIZATION_MISMATCH, "spec.quantization")
    assert named in problem.message
    assert problem.message.count(asked) >= 1


@pytest.mark.parametrize(
    ("checkpoint", "asked"),
    [
        ({"quantization": "awq"}, "awq"),
        ({"quantization": "mxfp4"}, "gpt_oss_mxfp4"),
        ({"quantization": "awq"}, "auto"),
        ({}, "online-fp8"),
        ({}, "auto"),
    ],
)
def test_what_it_is_is_not(checkpoint: dict[str, str], asked: str) -> None:
    assert planned(**stated(_BFLOAT16 | checkpoint, quantization=asked)).quantization == asked


def test_of_an_unknown_checkpoint_nothing_is_refused() -> None:
    assert planned(**vllm("acme/own", quantization="fp8")).quantization == "fp8"


def test_a_file_of_a_repository_has_its_own() -> None:
    changes = HUB | {"spec__gpu": {"type": "L4"}, "spec__quantization": "Q8_0"}
    assert planned(**changes, spec__model__facts=SMALL_FACTS | {"quantization": "Q4_K_M"}).quantization == "Q8_0"
    assert planned(**changes, spec__model__facts=SMALL_FACTS).quantization == "Q8_0"


def test_safetensors_of_the_catalogue_are_not_for_llamacpp() -> None:
    changes = vllm("Qwen/Qwen3-8B", engine="llamacpp")
    problem = refused(**changes)
    assert (problem.reason, problem.field) == (Reason.UNSUPPORTED_MODEL_SOURCE, "spec.model.uri")
    assert planned(**changes, spec__model__file="qwen3-8b-q4_k_m.gguf").container.args
    assert planned(**vllm("acme/own", engine="llamacpp")).container.args


def test_a_gguf_file_that_was_inspected_is_not_for_other_engines() -> None:
    service = LLMService.parse(an_llmservice(**vllm("acme/own")))
    found = KnownModel(ModelFacts(quantization="Q4_K_M", file_bytes=5 * 2**30), "inspection")
    facts = choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=None, model=found)
    with pytest.raises(InvalidSpec, match="llamacpp") as caught:
        plan_service(service, facts)
    assert (caught.value.reason, caught.value.field) == (Reason.UNSUPPORTED_MODEL_SOURCE, "spec.model.uri")


def test_a_checkpoint_that_the_device_has_no_kernels_for_is_not_answered_with_auto() -> None:
    problem = refused(**vllm("openai/gpt-oss-20b", "T4"))
    assert (problem.reason, problem.field) == (Reason.UNSUPPORTED_BY_DEVICE, "spec.model.uri")
    assert "auto" not in problem.message
    assert "spec.gpu.type" in problem.message
