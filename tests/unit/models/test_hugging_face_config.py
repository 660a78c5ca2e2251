"""Facts from config.json: many architectures against sizes collected elsewhere, and what strangers write."""

import json
from typing import Any

import pytest

from llmservice.models.hugging_face_config import MOST_CONFIG_BYTES, config_in, facts_of_config
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task
from llmservice.models.plausible import MalformedModel, implausible_in
from tests.unit.models import configs
from tests.unit.models.expected_sizes import EXPECTED

SIZES = (
    *("layers", "hidden_size", "heads", "head_size", "intermediate_size", "vocabulary"),
    *("tied_embeddings", "dtype", "longest_context"),
)


def facts_of(config: configs.Config) -> ModelFacts:
    """By way of a text, as a file has it: NaN and Infinity are written as Python writes them."""
    return facts_of_config(config_in(json.dumps(config).encode()))


def kv_bytes(facts: ModelFacts) -> tuple[int, int]:
    """For one token in 16 bit: of layers that keep every token, and of sliding ones."""
    if facts.latent:
        return facts.layers * (facts.latent.rank + facts.latent.rope_size) * 2, 0
    layer = 2 * facts.kv_heads * facts.head_size * 2
    full = facts.layers - facts.sliding_layers - facts.linear_layers
    return full * layer, facts.sliding_layers * layer


@pytest.mark.parametrize("model", EXPECTED)
def test_sizes_are_those_collected_elsewhere(model: str) -> None:
    facts, expected = facts_of(configs.BY_MODEL[model]), EXPECTED[model]
    assert {name: getattr(facts, name) for name in SIZES} == {name: expected[name] for name in SIZES}
    assert facts.architecture == configs.BY_MODEL[model]["architectures"][0]
    assert facts.task is Task.GENERATE


@pytest.mark.parametrize("model", EXPECTED)
def test_the_kv_cache_of_a_token_is_what_engines_log(model: str) -> None:
    facts, expected = facts_of(configs.BY_MODEL[model]), EXPECTED[model]
    assert kv_bytes(facts) == expected["kv_bytes"]
    assert (facts.sliding_layers, facts.sliding_window) == expected["sliding"]


@pytest.mark.parametrize("model", [name for name in EXPECTED if "Nemotron" not in name])
def test_experts_are_those_collected_elsewhere(model: str) -> None:
    experts, expected = facts_of(configs.BY_MODEL[model]).experts, EXPECTED[model]["experts"]
    found = experts and (experts.count, experts.active, experts.intermediate_size, experts.dense_layers)
    assert found == expected


def test_deepseek_compresses_keys_and_values_and_is_stored_in_blocks_of_fp8() -> None:
    facts = facts_of(configs.DEEPSEEK_V3)
    assert facts.latent == LatentAttention(rank=512, rope_size=64, query_rank=1536, nope_size=128, value_size=128)
    assert facts.experts == Experts(count=256, active=8, intermediate_size=2048, shared=1, dense_layers=3)
    assert (facts.quantization, facts.quantization_bits, facts.quantization_group) == ("fp8", 8, 128)


def test_blocks_without_attention_keep_nothing_that_grows() -> None:
    facts = facts_of(configs.BY_MODEL["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"])
    assert (facts.layers, facts.linear_layers) == (52, 46)
    assert facts.experts == Experts(count=128, active=6, intermediate_size=1856, shared=1, dense_layers=29)


@pytest.mark.parametrize(
    ("config", "layers", "linear"),
    [(configs.MAMBA, 64, 64), (configs.JAMBA, 32, 28), (configs.QWEN3_NEXT, 48, 36)],
)
def test_layers_with_a_state_are_told_from_those_with_a_cache(config: configs.Config, layers: int, linear: int) -> None:
    facts = facts_of(config)
    assert (facts.layers, facts.linear_layers) == (layers, linear)


@pytest.mark.parametrize(
    ("said", "linear"),
    [
        ({"layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"]}, 3),
        ({"layers_block_type": ["mamba", "attention", "mamba", "mamba"]}, 3),
        ({"attn_type_list": [0, 1, 0, 1]}, 2),
        ({"linear_attn_config": {"full_attn_layers": [4], "kda_layers": [1, 2, 3]}}, 3),
        ({"attn_layer_indices": [1, 3]}, 2),
        ({"block_types": ["recurrent", "attention"]}, 2),
        ({"layer_types": ["conv", "full_attention", "conv", "conv"]}, 3),
    ],
)
def test_each_way_to_name_layers_without_a_cache_is_known(said: dict[str, Any], linear: int) -> None:
    assert facts_of({"num_hidden_layers": 4, "num_attention_heads": 2, **said}).linear_layers == linear


@pytest.mark.parametrize(
    ("said", "sliding", "window"),
    [
        ({"sliding_window": 4096}, 8, 4096),
        ({"sliding_window": None}, 0, 0),
        ({"sliding_window": 4096, "use_sliding_window": False}, 0, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 6}, 2, 4096),
        ({"sliding_window": 4096, "sliding_window_pattern": 4}, 6, 4096),
        ({"sliding_window": 4096, "model_type": "cohere2"}, 6, 4096),
        ({"sliding_window": 32768}, 0, 0),
        ({"attention_chunk_size": 8192, "no_rope_layers": []}, 6, 8192),
        ({"sliding_window": 512, "layer_types": ["sliding_attention"] * 5 + ["full_attention"] * 3}, 5, 512),
    ],
)
def test_each_way_to_name_sliding_layers_is_known(said: dict[str, Any], sliding: int, window: int) -> None:
    facts = facts_of({"num_hidden_layers": 8, "max_position_embeddings": 32768, **said})
    assert (facts.sliding_layers, facts.sliding_window) == (sliding, window)


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ({"max_position_embeddings": 32768}, 32768),
        ({"n_positions": 1024}, 1024),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 4.0}}, 16384),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": 2}}, 8192),
        (
            {
                "max_position_embeddings": 32768,
                "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
            },
            131072,
        ),
        (
            {
                "max_position_embeddings": 131072,
                "rope_parameters": {
                    "sliding_attention": {"rope_type": "default"},
                    "full_attention": {"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": 8192},
                },
            },
            16384,
        ),
        ({"max_position_embeddings": 32768, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24]}}, 32768),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": float("nan")}}, None),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 1e30}}, None),
        ({}, 0),
    ],
)
def test_the_longest_context_is_the_one_that_vllm_derives(said: dict[str, Any], tokens: int | None) -> None:
    if tokens is None:
        with pytest.raises(MalformedModel, match="rope_scaling"):
            facts_of(said)
    else:
        assert facts_of(said).longest_context == tokens


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"}, ("awq", 4, 128)),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1, "desc_act": False}, ("gptq", 8, 0)),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, ("fp8", 8, 0)),
        ({"quant_method": "mxfp4"}, ("mxfp4", 4, 32)),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, ("modelopt", 8, 0)),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}, ("modelopt_fp4", 4, 16)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, ("bitsandbytes", 4, 0)),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32, "type": "int"}}},
            },
            ("compressed-tensors", 4, 32),
        ),
        (
            {"config_groups": {"group_0": {"weights": {"num_bits": 8, "group_size": None}}}},
            ("compressed-tensors", 8, 0),
        ),
        ({"quant_method": ["awq"]}, ("", 0, 0)),
        ("awq", ("", 0, 0)),
    ],
)
def test_the_checkpoints_quantization_is_named(said: object, expected: tuple[str, int, int]) -> None:
    facts = facts_of({"quantization_config": said})
    assert (facts.quantization, facts.quantization_bits, facts.quantization_group) == expected


@pytest.mark.parametrize(
    ("config", "task", "context"),
    [
        (configs.BGE_LARGE, Task.EMBED, 512),
        (configs.BGE_RERANKER, Task.RERANK, 8192),
        ({**configs.BGE_RERANKER, "id2label": {"0": "bad", "1": "good"}}, None, 8192),
        (configs.WHISPER_LARGE, Task.TRANSCRIBE, 448),
        (configs.OPT, Task.GENERATE, 2048),
        (configs.GPT_2, Task.GENERATE, 1024),
        ({"architectures": []}, None, 0),
    ],
)
def test_the_task_and_length_of_other_kinds_of_models(config: configs.Config, task: Task | None, context: int) -> None:
    facts = facts_of(config)
    assert (facts.task, facts.longest_context) == (task, context)


def test_old_names_of_sizes_are_known() -> None:
    gpt, opt, whisper, falcon = map(facts_of, (configs.GPT_2, configs.OPT, configs.WHISPER_LARGE, configs.FALCON_7B))
    assert (gpt.layers, gpt.hidden_size, gpt.heads, gpt.intermediate_size) == (12, 768, 12, 3072)
    assert (opt.layers, opt.intermediate_size, opt.head_size) == (12, 3072, 64)
    assert (whisper.layers, whisper.hidden_size, whisper.heads, whisper.intermediate_size) == (32, 1280, 20, 5120)
    assert (falcon.kv_heads, falcon.head_size) == (1, 64)


def test_nothing_is_known_of_an_empty_config() -> None:
    assert facts_of({}) == ModelFacts()


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_hidden_layers": "32"}, "num_hidden_layers"),
        ({"vocab_size": {"a": 1}}, "vocab_size"),
        ({"hidden_size": 1e300}, "hidden_size"),
        ({"hidden_size": 10**4000}, "hidden_size"),
        ({"max_position_embeddings": 10**19}, "max_position_embeddings"),
        ({"intermediate_size": [["a"]]}, "intermediate_size"),
        ({"kv_lora_rank": 512}, "qk_rope_head_dim"),
    ],
)
def test_a_number_that_no_model_has_is_refused_by_its_name(config: configs.Config, field: str) -> None:
    with pytest.raises(MalformedModel, match=field) as raised:
        facts_of(config)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("value", [None, -1, float("nan"), float("-inf"), float("inf"), True, [], [None]])
def test_a_number_that_says_nothing_is_unknown(value: object) -> None:
    assert facts_of({"num_hidden_layers": value, "hidden_size": value, "vocab_size": value}) == ModelFacts()


@pytest.mark.parametrize("config", [*configs.BY_MODEL.values(), configs.JAMBA, configs.WHISPER_LARGE])
@pytest.mark.parametrize("junk", ["x", -5, 10**30, [1] * 5, {"a": {}}, float("nan"), "\x1b[31m", None, True, [[]]])
def test_junk_in_any_field_is_refused_or_unknown_but_never_a_crash(config: configs.Config, junk: object) -> None:
    text = config.get("text_config", config)
    for name in text:
        broken = {**text, name: junk}
        try:
            facts = facts_of({**config, "text_config": broken} if "text_config" in config else broken)
        except MalformedModel:
            continue
        assert implausible_in(facts) == ""


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[]", b"null", b"{", b"\xff\xfe", b"{'a': 1}", b"[" * 100_000, b'{"a":' * 100_000),
        *(b"1" * 100_000, b"<html>", b" " * (MOST_CONFIG_BYTES + 1)),
    ],
)
def test_what_is_no_config_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(MalformedModel, match=r"config\.json") as raised:
        config_in(data)
    assert len(str(raised.value)) < 200
