"""Bytes of the KV cache against published ones, which are exact."""

from dataclasses import replace

import pytest

from llmservice.models.kv_cache import kv_cache, value_bytes
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from tests.unit.models.models import known


@pytest.mark.parametrize(
    ("model", "full", "windowed", "window"),
    [
        ("meta-llama/Llama-2-7b-chat-hf", 524_288, 0, 0),
        ("meta-llama/Llama-3.1-8B-Instruct", 131_072, 0, 0),
        ("meta-llama/Llama-3.3-70B-Instruct", 327_680, 0, 0),
        ("mistralai/Mistral-7B-Instruct-v0.3", 131_072, 0, 0),
        ("Qwen/Qwen2.5-7B-Instruct", 57_344, 0, 0),
        ("Qwen/Qwen3-8B", 147_456, 0, 0),
        ("Qwen/Qwen3-30B-A3B", 98_304, 0, 0),
        ("openai/gpt-oss-20b", 24_576, 24_576, 128),
        ("google/gemma-3-27b-it", 81_920, 425_984, 1024),
        ("google/gemma-4-31B-it", 81_920, 819_200, 1024),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 49_152, 147_456, 8192),
        ("deepseek-ai/DeepSeek-V3", 70_272, 0, 0),
        ("Qwen/Qwen3.6-27B", 65_536, 0, 0),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 6_144, 0, 0),
    ],
)
def test_bytes_of_a_token_are_the_published_ones(model: str, full: int, windowed: int, window: int) -> None:
    cache = kv_cache(known(model))
    assert cache is not None
    assert (cache.full, cache.windowed, cache.window) == (full, windowed, window)


@pytest.mark.parametrize(
    ("model", "gib", "logged"),
    [("meta-llama/Llama-3.1-8B-Instruct", 58.11, 476_016), ("Qwen/Qwen2.5-7B-Instruct", 58.53, 1_096_000)],
)
def test_tokens_in_the_cache_are_those_that_vllm_logs(model: str, gib: float, logged: int) -> None:
    """The logs round GiB to two digits and tokens to blocks of 16."""
    cache = kv_cache(known(model))
    assert cache is not None
    assert gib * GIB / cache.full == pytest.approx(logged, rel=1e-4)


def test_a_window_holds_what_one_step_adds() -> None:
    """One request of 131,072 tokens of gpt-oss-20b: vLLM says that 3.1 GiB are needed."""
    cache = kv_cache(known("openai/gpt-oss-20b"))
    assert cache is not None
    assert cache.request_bytes(131_072, in_flight=2048) / GIB == pytest.approx(3.05, abs=0.005)
    assert cache.request_bytes(100, in_flight=2048) == 100 * (24_576 + 24_576)


@pytest.mark.parametrize(("devices", "share"), [(1, 1), (2, 2), (8, 8), (16, 8)])
def test_heads_are_divided_and_beyond_their_number_copied(devices: int, share: int) -> None:
    facts = known("meta-llama/Llama-3.3-70B-Instruct")
    cache = kv_cache(facts, devices=devices)
    assert cache is not None
    assert cache.full == 327_680 / share


def test_a_latent_cache_is_the_same_on_every_device() -> None:
    cache = kv_cache(known("deepseek-ai/DeepSeek-V3"), devices=8)
    assert cache is not None
    assert cache.full == 70_272


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("", 2), ("auto", 2), ("bfloat16", 2), ("fp8", 1), ("fp8_e4m3fn", 1), ("q8_0", 1.0625), ("q4_0", 0.5625)],
)
def test_bytes_of_a_value(dtype: str, size: float) -> None:
    assert value_bytes(dtype) == size


@pytest.mark.parametrize("facts", [ModelFacts(), ModelFacts(layers=32), ModelFacts(layers=32, kv_heads=8)])
def test_without_dimensions_nothing_is_said(facts: ModelFacts) -> None:
    assert kv_cache(facts) is None


def test_an_unknown_type_is_unknown() -> None:
    assert kv_cache(known("Qwen/Qwen3-8B"), "turbo3") is None


def test_the_size_of_heads_follows_from_the_hidden_size() -> None:
    facts = known("meta-llama/Llama-3.1-8B-Instruct")
    assert kv_cache(replace(facts, head_size=0)) == kv_cache(facts)
