"""What cannot fit is refused before a GPU is taken; what is not certain is not."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from tests.builders import an_llmservice
from tests.unit.planning.knowing import LLAMA_8B, LLAMA_70B, SMALL_FACTS, stated, vllm
from tests.unit.planning.planned import HUB, facts_of, planned, refused

_LARGEST = "meta-llama/Llama-3.1-405B-Instruct"
_QWEN_72B = "Qwen/Qwen2.5-72B-Instruct"


def _outcome(plan: ServicePlan) -> Outcome:
    assert plan.fit is not None
    return plan.fit.outcome


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (vllm(_QWEN_72B, "T4"), ("T4", "GiB")),
        (vllm(_LARGEST, "T4"), ("T4", "GiB")),
        (vllm(LLAMA_8B, "L4", maxModelLen=131_072), ("131072", "16.0 GiB", "L4", "maxModelLen", "kvCacheDtype fp8")),
        (vllm("Qwen/Qwen2.5-7B-Instruct", "L4", 8), ("gpu.count",)),
    ],
)
def test_refuses_with_the_arithmetic_and_the_ways_out(changes: dict[str, Any], named: tuple[str, ...]) -> None:
    problem = refused(**changes)
    assert (problem.reason, problem.field) == (Reason.DOES_NOT_FIT, "spec.gpu")
    assert [word for word in named if word not in problem.message] == []


@pytest.mark.parametrize("fit", ["Warn", "Ignore"])
def test_the_resource_may_overrule(fit: str) -> None:
    plan = planned(**vllm(_QWEN_72B, "T4", fit=fit))
    assert (plan.fit and plan.fit.outcome) == (Outcome.DOES_NOT_FIT if fit == "Warn" else None)


def test_a_generation_that_was_accepted_is_not_refused_later() -> None:
    changes = vllm(_QWEN_72B, "T4")
    plan = plan_service(LLMService.parse(an_llmservice(**changes)), facts_of(**changes), accepted=True)
    assert _outcome(plan) is Outcome.DOES_NOT_FIT


@pytest.mark.parametrize(
    "option",
    [
        {"args": ["--cpu-offload-gb", "200"]},
        {"args": ["--cpu-offload-gb=200"]},
        {"args": ["--hf-overrides={}"]},
    ],
)
def test_options_that_change_the_arithmetic_leave_it_open(option: dict[str, Any]) -> None:
    assert _outcome(planned(**vllm(_QWEN_72B, "T4", engineOptions=option))) is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ([], Outcome.FITS),
        (["--gpu-memory-utilization=0.5"], Outcome.DOES_NOT_FIT),
        (["--gpu-memory-utilization", "0.5"], Outcome.DOES_NOT_FIT),
        (["--gpu-memory-utilization=much"], Outcome.FITS),
        (["--max-num-batched-tokens=99999999999"], Outcome.FITS),
        (["--max-num-batched-tokens=262144"], Outcome.DOES_NOT_FIT),
    ],
)
def test_arguments_that_change_the_memory_are_read(arguments: list[str], outcome: Outcome) -> None:
    plan = planned(**vllm(LLAMA_8B, "L4", engineOptions={"args": arguments}, maxModelLen=8192, fit="Warn"))
    assert _outcome(plan) is outcome


def test_nothing_known_is_never_refused() -> None:
    assert _outcome(planned(**vllm("acme/own", "T4"))) is Outcome.UNKNOWN
    assert _outcome(planned(**stated({"layers": 200}, "T4"))) is Outcome.UNKNOWN
    resource = {"spec__gpu": {"resourceName": "nvidia.com/gpu", "count": 1}}
    assert _outcome(planned(**vllm(_QWEN_72B) | resource)) is Outcome.UNKNOWN


def test_the_weights_alone_can_be_too_much() -> None:
    problem = refused(**stated({"fileBytes": 40 * 2**30, "dtype": "bfloat16"}))
    assert problem.reason is Reason.DOES_NOT_FIT


def test_on_a_cpu_nothing_is_computed() -> None:
    assert planned(spec__model__facts=SMALL_FACTS).fit is None


def test_layers_left_on_the_cpu_need_no_room_on_the_device() -> None:
    facts = SMALL_FACTS | {"fileBytes": 40 * 2**30, "quantization": "Q4_K_M", "longestContext": 2048}
    changes = HUB | {"spec__model__facts": facts}
    assert refused(**changes, spec__gpu={"type": "L4"}).reason is Reason.DOES_NOT_FIT
    assert _outcome(planned(**changes, spec__gpu={"type": "L4", "offloadLayers": 8})) is Outcome.FITS


def test_a_tight_start_is_allowed() -> None:
    assert _outcome(planned(**vllm(LLAMA_70B, "A100-80GB-SXM", 2, maxModelLen=40_000))) is Outcome.TIGHT


def test_what_others_take_of_a_shared_device_is_not_known() -> None:
    shared = vllm("Qwen/Qwen2.5-1.5B-Instruct", "T4", gpu__shared=True)
    assert _outcome(planned(**shared)) is Outcome.UNKNOWN
    said = shared | {"spec__engineOptions": {"args": ["--gpu-memory-utilization=0.4"]}}
    assert _outcome(planned(**said)) is Outcome.FITS
    assert refused(**vllm(_QWEN_72B, "T4", gpu__shared=True)).reason is Reason.DOES_NOT_FIT


def test_a_length_that_nobody_asked_for_is_no_reason_to_refuse() -> None:
    plan = planned(**vllm(maxNumSeqs=2048))
    assert (plan.max_model_len, _outcome(plan)) == (0, Outcome.TIGHT)
    assert plan.fit is not None
    assert plan.fit.full_length_requests == 0


def test_expert_parallelism_lets_experts_be_narrow() -> None:
    facts = {
        "layers": 94,
        "hiddenSize": 4096,
        "intermediateSize": 12_288,
        "heads": 64,
        "kvHeads": 4,
        "headSize": 128,
        "vocabulary": 151_936,
        "longestContext": 40_960,
        "dtype": "bfloat16",
        "quantization": "fp8",
        "quantizationBits": 8,
        "quantizationGroup": 128,
        "experts": {"count": 128, "active": 8, "intermediateSize": 1536},
    }
    changes = stated(facts, "H100", gpu__count=8)
    assert "gpu.parallelism.expert to 8" in refused(**changes).message
    gpu = {"type": "H100", "count": 8}
    for parallelism in ({"expert": 8}, {"pipeline": 2}, {"data": 2, "expert": 8}):
        assert _outcome(planned(**{**changes, "spec__gpu": {**gpu, "parallelism": parallelism}})) is Outcome.FITS


def test_a_model_that_needs_32_bits_takes_twice_the_memory() -> None:
    """Gemma 3 on a device without bfloat16."""
    assert refused(**vllm("google/gemma-3-4b-it", "T4")).reason is Reason.DOES_NOT_FIT
    assert _outcome(planned(**vllm("google/gemma-3-4b-it", "L4"))) is Outcome.FITS
    assert refused(**vllm(LLAMA_8B, "L4", dtype="float32")).reason is Reason.DOES_NOT_FIT


def test_of_several_such_options_the_first_is_named() -> None:
    arguments = ["--hf-overrides={}", "--num-gpu-blocks-override=9", "--cpu-offload-gb=200"]
    for first in range(len(arguments)):
        args = arguments[first:] + arguments[:first]
        plan = planned(**vllm(_QWEN_72B, "T4", engineOptions={"args": args}))
        assert plan.fit is not None
        assert f"; {args[0].partition('=')[0]} " in plan.fit.message
