"""Sizes of weights against published ones: bytes of files on the hub, and what vLLM logs when it has loaded them."""

from dataclasses import replace

import pytest

from llmservice.models.model_facts import LatentAttention, ModelFacts
from llmservice.models.quantization import Quantization, Touches, quantization_named
from llmservice.models.sizes import GIB
from llmservice.models.weights import quantized_bytes, weight_bytes, weight_counts
from tests.unit.models.models import known

GB = 1e9


def by_dimensions(name: str, quantization: str = "") -> float:
    """GiB by the closed form alone: no size of files, no published number of parameters."""
    size = weight_bytes(replace(known(name), file_bytes=0), quantization)
    assert size is not None
    return size / GIB


@pytest.mark.parametrize(
    ("model", "quantization", "published"),
    [
        # bf16 and fp16: files (KAITO's list, the Hub) and vLLM's load logs.
        ("meta-llama/Llama-3.1-8B-Instruct", "", 14.96),
        ("meta-llama/Llama-3.3-70B-Instruct", "", 131.42),
        ("mistralai/Mistral-7B-Instruct-v0.3", "", 13.50),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "", 86.99),
        ("meta-llama/Llama-2-7b-chat-hf", "", 12.55),
        ("meta-llama/Llama-2-13b-chat-hf", "", 24.24),
        ("Qwen/Qwen2.5-7B-Instruct", "", 14.19),
        ("Qwen/Qwen2.5-14B-Instruct", "", 27.51),
        ("Qwen/Qwen2.5-32B-Instruct", "", 61.03),
        ("Qwen/Qwen3-0.6B", "", 1.12),
        ("Qwen/Qwen3-14B", "", 27.52),
        ("Qwen/Qwen3-32B", "", 61.03),
        ("microsoft/phi-4", "", 27.31),
        ("microsoft/Phi-4-mini-instruct", "", 7.15),
        ("microsoft/Phi-3.5-mini-instruct", "", 7.12),
        # Quantized: files on the hub (GB as it counts them), load logs.
        ("mistralai/Mistral-7B-v0.1", "gptq", 4.16 * GB / GIB),
        ("meta-llama/Llama-3.1-8B-Instruct", "fp8", 8.49),
        ("meta-llama/Llama-3.3-70B-Instruct", "fp8", 67.72),
        ("Qwen/Qwen3-8B", "awq", 5.68),
        ("Qwen/Qwen2.5-7B-Instruct", "awq", 5.20),
        ("openai/gpt-oss-20b", "", 12.87),
        ("openai/gpt-oss-120b", "", 60.7),
        # Without the layer for multi-token prediction, which is loaded for speculative decoding alone.
        ("deepseek-ai/DeepSeek-V3", "", 626.8),
        ("MiniMaxAI/MiniMax-M2.7", "", 214.34),
    ],
)
def test_the_closed_form_gives_published_sizes_within_one_percent(
    model: str, quantization: str, published: float
) -> None:
    assert by_dimensions(model, quantization) == pytest.approx(published, rel=0.01)


def test_the_files_of_deepseek_v3_hold_one_more_layer_for_multi_token_prediction() -> None:
    """641.3 GiB of files, with the layer that is loaded for speculative decoding alone.

    README_WEIGHTS.md of deepseek-ai/DeepSeek-V3: 11.5 billion weights (a layer of experts like the others, and a
    projection from twice the hidden size), and embeddings and output layer once more, 0.9 billion each.
    """
    facts = replace(known("deepseek-ai/DeepSeek-V3"), layers=62, file_bytes=0)
    counts = weight_counts(facts)
    fp8 = quantization_named("fp8")
    assert counts is not None
    assert fp8 is not None
    copies = 2 * facts.vocabulary * facts.hidden_size
    projection = 2 * facts.hidden_size * facts.hidden_size
    assert (quantized_bytes(counts, fp8) + 2 * (copies + projection)) / GIB == pytest.approx(641.3, rel=0.001)


@pytest.mark.parametrize(
    ("model", "quantization", "published"),
    [
        ("mistralai/Mistral-7B-v0.1", "Q4_K_S", 4.14 * GB / GIB),
        ("meta-llama/Llama-3.1-8B-Instruct", "Q4_K_M", 4.58),
        ("meta-llama/Llama-3.1-70B-Instruct", "Q4_K_M", 39.59),
        ("meta-llama/Llama-3.1-405B-Instruct", "Q4_K_M", 249.1 * GB / GIB),
    ],
)
def test_gguf_files_are_met_within_five_percent(model: str, quantization: str, published: float) -> None:
    """The bits are those of Llama 3.1 8B: how large the vocabulary is beside the rest moves them."""
    assert by_dimensions(model, quantization) == pytest.approx(published, rel=0.05)


def test_int4_experts_alone_as_in_kimi_k2_5() -> None:
    counts = weight_counts(replace(known("moonshotai/Kimi-K2.5"), file_bytes=0))
    assert counts is not None
    assert quantized_bytes(counts, Quantization(4.5, Touches.EXPERTS)) / GIB == pytest.approx(554.3, rel=0.01)


def test_a_vision_tower_is_not_in_the_closed_form() -> None:
    """Gemma 3 27B: 51.1 GiB of files with its tower, 1.6 % more than the text model."""
    assert by_dimensions("google/gemma-3-27b-it") == pytest.approx(50.3, rel=0.001)


def test_the_bytes_of_the_files_are_preferred() -> None:
    """This checkpoint leaves attention at 16 bits: its name would give 61 GiB."""
    facts = known("Qwen/Qwen3.5-122B-A10B-GPTQ-Int4")
    assert weight_bytes(facts) == facts.file_bytes == round(73.47 * GIB)
    assert by_dimensions("Qwen/Qwen3.5-122B-A10B-GPTQ-Int4") < 63


def test_the_bytes_of_the_files_say_nothing_of_another_quantization() -> None:
    facts = known("meta-llama/Llama-3.1-8B-Instruct")
    assert weight_bytes(facts, "auto") == facts.file_bytes
    assert weight_bytes(facts, "fp8") == weight_bytes(replace(facts, file_bytes=0), "fp8")


def test_float32_is_loaded_in_16_bits() -> None:
    facts = ModelFacts(file_bytes=8 * GIB, dtype="float32")
    assert weight_bytes(facts) == 4 * GIB
    assert weight_bytes(facts, "Q8_0") == pytest.approx(8.5 / 8 * 2 * GIB)


def test_files_alone_are_enough_for_a_guess_at_other_quantizations() -> None:
    assert weight_bytes(ModelFacts(file_bytes=16 * GIB, dtype="bfloat16"), "fp8") == 8 * GIB


@pytest.mark.parametrize(
    ("facts", "quantization"),
    [
        (ModelFacts(), ""),
        (ModelFacts(layers=32, hidden_size=4096), ""),
        (ModelFacts(parameters=7 * 10**9), "compressed-tensors"),
        (ModelFacts(file_bytes=GIB, quantization="awq"), "fp8"),
    ],
)
def test_what_nothing_tells_is_unknown(facts: ModelFacts, quantization: str) -> None:
    assert weight_bytes(facts, quantization) is None


def test_published_parameters_decide_the_total() -> None:
    """Nemotron's blocks are not a transformer's: the closed form would give three times as many weights."""
    counts = weight_counts(known("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"))
    assert counts is not None
    assert counts.total == 31_600_000_000


def test_queries_without_compression() -> None:
    latent = LatentAttention(rank=512, rope_size=64, nope_size=128, value_size=128)
    facts = ModelFacts(layers=1, hidden_size=2048, heads=16, vocabulary=64, intermediate_size=0, latent=latent)
    counts = weight_counts(facts)
    assert counts is not None
    assert counts.linear == 2048 * 16 * 192 + 2048 * 576 + 512 * 16 * 256 + 16 * 128 * 2048


@pytest.mark.parametrize(
    ("name", "group", "bits"),
    [
        ("awq", 0, 4.156), ("gptq", 128, 4.156), ("GPTQ", 32, 4.625), ("mxfp4", 0, 4.25), ("nvfp4", 0, 4.5),
        ("online-nf4", 0, 4.5), ("fp8", 0, 8.0), ("UD-Q4_K_M", 0, 4.89), ("q8_0", 0, 8.5), ("auto", 0, 16.0),
    ],
)  # fmt: skip
def test_bits_of_a_weight(name: str, group: int, bits: float) -> None:
    found = quantization_named(name, group)
    assert found is not None
    assert found.bits == pytest.approx(bits, abs=0.001)


def test_a_container_for_many_formats_tells_no_bits() -> None:
    assert quantization_named("compressed-tensors") is None
