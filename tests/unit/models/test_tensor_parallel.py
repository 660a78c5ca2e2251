"""Over how many devices models can be divided."""

from dataclasses import replace

import pytest

from llmservice.models.model_facts import ModelFacts
from llmservice.models.tensor_parallel import experts_problem, stages_problem, tensor_parallel_problem
from tests.unit.models.models import known


def tensor_parallel_sizes(facts: ModelFacts, at_most: int) -> list[int]:
    return [size for size in range(1, at_most + 1) if not tensor_parallel_problem(facts, size)]


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", [1, 2, 4]),
        ("Qwen/Qwen2.5-0.5B-Instruct", [1, 2]),
        ("Qwen/Qwen2.5-1.5B-Instruct", [1, 2, 4]),
        ("meta-llama/Llama-3.1-8B-Instruct", [1, 2, 4, 8, 16]),
        ("deepseek-ai/DeepSeek-V3", [1, 2, 4, 8, 16]),
        # By their heads alone, phi-4 could be divided by 5 and 10 and SmolLM2 by 9. Their padded vocabularies cannot:
        # 100352 and 49152 (vLLM issues 1399, where 32064 fails over 5, and 31474, where 151552 fails over 6).
        ("microsoft/phi-4", [1, 2]),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", [1, 3]),
    ],
)
def test_sizes_that_work(model: str, sizes: list[int]) -> None:
    assert tensor_parallel_sizes(replace(known(model), quantization="", quantization_group=0), 16) == sizes


@pytest.mark.parametrize(
    ("model", "quantization", "works", "fails"),
    [
        ("Qwen/Qwen2.5-14B-Instruct", "awq", [1, 2, 4], [8]),
        ("Qwen/Qwen2.5-14B-Instruct", "gptq", [1, 2, 4], [8]),
        ("Qwen/Qwen3-30B-A3B", "fp8", [1, 2], [4, 8]),
        ("Qwen/Qwen3-235B-A22B", "fp8", [1, 2, 4], [8]),
    ],
)
def test_groups_of_quantized_weights_stay_whole(
    model: str, quantization: str, works: list[int], fails: list[int]
) -> None:
    facts = replace(known(model), quantization=quantization, quantization_group=128)
    assert [size for size in (*works, *fails) if not tensor_parallel_problem(facts, size)] == works


def test_the_checkpoints_groups_are_not_those_of_another() -> None:
    facts = known("Qwen/Qwen3-30B-A3B")
    assert tensor_parallel_problem(facts, 4, "online-fp8") == ""
    assert tensor_parallel_problem(facts, 4, "online-fp8-block").startswith("768 wide layers in groups of 128")


@pytest.mark.parametrize(
    ("model", "devices", "said"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 8, "28 attention heads cannot be divided by 8"),
        ("microsoft/phi-4", 4, "10 KV heads cannot be divided or copied evenly over 4"),
        ("microsoft/phi-4", 5, "the vocabulary of 100352 (padded) cannot be divided by 5"),
    ],
)
def test_says_what_cannot_be_divided(model: str, devices: int, said: str) -> None:
    assert tensor_parallel_problem(known(model), devices) == said


def test_a_size_of_groups_that_nobody_told_forbids_nothing() -> None:
    """Qwen pads its own AWQ files so that 8 devices can share them."""
    assert tensor_parallel_problem(known("Qwen/Qwen2.5-72B-Instruct"), 8, "awq") == ""


def test_dense_layers_of_a_mixture_have_groups_too() -> None:
    facts = known("deepseek-ai/DeepSeek-V3")
    assert tensor_parallel_problem(facts, 32) == "2048 wide layers in groups of 128 cannot be divided by 32"
    assert tensor_parallel_problem(replace(facts, intermediate_size=18432 + 128), 16).startswith("18560 wide")


def test_nothing_is_known_against_unknown_models() -> None:
    assert tensor_parallel_sizes(ModelFacts(), 8) == list(range(1, 9))


def test_copies_divide_the_experts_that_they_share() -> None:
    facts = replace(known("Qwen/Qwen3-30B-A3B"), quantization="fp8", quantization_group=128)
    assert tensor_parallel_problem(facts, 2) == ""
    assert tensor_parallel_problem(facts, 2, copies=2).startswith("768 wide layers in groups of 128")
    assert tensor_parallel_problem(facts, 2, copies=2, whole_experts=True) == ""


@pytest.mark.parametrize(("stages", "fits"), [(1, True), (28, True), (29, False)])
def test_a_stage_has_a_layer_at_least(stages: int, fits: bool) -> None:
    assert (stages_problem(known("Qwen/Qwen2.5-7B-Instruct"), stages) == "") == fits
    assert stages_problem(ModelFacts(), stages) == ""


@pytest.mark.parametrize(
    ("model", "devices", "fits"),
    [
        ("Qwen/Qwen3-30B-A3B", 8, True),
        ("Qwen/Qwen3-30B-A3B", 256, False),
        ("Qwen/Qwen2.5-7B-Instruct", 2, False),
        ("Qwen/Qwen2.5-7B-Instruct", 1, True),
    ],
)
def test_a_device_has_an_expert_at_least(model: str, devices: int, fits: bool) -> None:
    assert (experts_problem(known(model), devices) == "") == fits
    assert experts_problem(ModelFacts(), devices) == ""
