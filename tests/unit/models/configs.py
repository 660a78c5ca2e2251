"""config.json of many architectures: the fields that say how large a model is, with some that say something else.

Written by hand after the public files of each model; names and numbers are facts of those.
"""

from typing import Any

Config = dict[str, Any]


def _dense(architecture: str, kind: str, sizes: tuple[int, ...], **more: Any) -> Config:
    layers, hidden, heads, kv_heads, intermediate, vocabulary, context = sizes
    return {
        "architectures": [architecture],
        "model_type": kind,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": intermediate,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.45.0",
        "hidden_act": "silu",
        "eos_token_id": [1, 2],
        **more,
    }


LLAMA_3_ROPE = {
    "factor": 8.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
DEEPSEEK_V3 = _dense(
    "DeepseekV3ForCausalLM",
    "deepseek_v3",
    (61, 7168, 128, 128, 18432, 129280, 163840),
    q_lora_rank=1536,
    kv_lora_rank=512,
    qk_rope_head_dim=64,
    qk_nope_head_dim=128,
    v_head_dim=128,
    n_routed_experts=256,
    num_experts_per_tok=8,
    moe_intermediate_size=2048,
    n_shared_experts=1,
    first_k_dense_replace=3,
    moe_layer_freq=1,
    num_nextn_predict_layers=1,
    rope_scaling={"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1.0},
    quantization_config={"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
)
GPT_OSS_20B = _dense(
    "GptOssForCausalLM",
    "gpt_oss",
    (24, 2880, 64, 8, 2880, 201088, 131072),
    head_dim=64,
    num_local_experts=32,
    num_experts_per_tok=4,
    experts_per_token=4,
    sliding_window=128,
    layer_types=["sliding_attention", "full_attention"] * 12,
    rope_scaling={"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096},
    quantization_config={"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
)
QWEN3_30B_A3B = _dense(
    "Qwen3MoeForCausalLM",
    "qwen3_moe",
    (48, 2048, 32, 4, 6144, 151936, 40960),
    head_dim=128,
    num_experts=128,
    num_experts_per_tok=8,
    moe_intermediate_size=768,
    decoder_sparse_step=1,
    mlp_only_layers=[],
    use_sliding_window=False,
    sliding_window=None,
)
NEMOTRON_PATTERN = "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"

BY_MODEL: dict[str, Config] = {
    "meta-llama/Llama-2-7b-chat-hf": _dense(
        "LlamaForCausalLM", "llama", (32, 4096, 32, 32, 11008, 32000, 4096), torch_dtype="float16"
    ),
    "meta-llama/Llama-3.1-8B-Instruct": _dense(
        "LlamaForCausalLM", "llama", (32, 4096, 32, 8, 14336, 128256, 131072), rope_scaling=LLAMA_3_ROPE
    ),
    "meta-llama/Llama-3.2-1B-Instruct": _dense(
        "LlamaForCausalLM",
        "llama",
        (16, 2048, 32, 8, 8192, 128256, 131072),
        head_dim=64,
        tie_word_embeddings=True,
        rope_scaling={**LLAMA_3_ROPE, "factor": 32.0},
    ),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": {
        "architectures": ["Llama4ForConditionalGeneration"],
        "model_type": "llama4",
        "torch_dtype": "bfloat16",
        "vision_config": {"hidden_size": 1408, "num_hidden_layers": 34, "rope_theta": float("inf")},
        "text_config": _dense(
            "",
            "llama4_text",
            (48, 5120, 40, 8, 8192, 202048, 10485760),
            head_dim=128,
            intermediate_size_mlp=16384,
            num_local_experts=16,
            num_experts_per_tok=1,
            interleave_moe_layer_step=1,
            attention_chunk_size=8192,
            no_rope_layers=[1, 1, 1, 0] * 12,
            rope_scaling={**LLAMA_3_ROPE, "factor": 8.0},
            tie_word_embeddings=False,
        ),
    },
    "mistralai/Mixtral-8x7B-Instruct-v0.1": _dense(
        "MixtralForCausalLM",
        "mixtral",
        (32, 4096, 32, 8, 14336, 32000, 32768),
        num_local_experts=8,
        num_experts_per_tok=2,
        sliding_window=None,
    ),
    "Qwen/Qwen2.5-7B-Instruct": _dense(
        "Qwen2ForCausalLM",
        "qwen2",
        (28, 3584, 28, 4, 18944, 152064, 32768),
        use_sliding_window=False,
        sliding_window=131072,
        max_window_layers=28,
    ),
    "Qwen/Qwen3-8B": _dense(
        "Qwen3ForCausalLM",
        "qwen3",
        (36, 4096, 32, 8, 12288, 151936, 40960),
        head_dim=128,
        use_sliding_window=False,
        sliding_window=None,
        max_window_layers=36,
    ),
    "Qwen/Qwen3-30B-A3B": QWEN3_30B_A3B,
    "deepseek-ai/DeepSeek-V3": DEEPSEEK_V3,
    "openai/gpt-oss-20b": GPT_OSS_20B,
    "google/gemma-2-9b-it": _dense(
        "Gemma2ForCausalLM",
        "gemma2",
        (42, 3584, 16, 8, 14336, 256000, 8192),
        head_dim=256,
        sliding_window=4096,
        attn_logit_softcapping=50.0,
    ),
    "google/gemma-3-4b-it": {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "torch_dtype": "bfloat16",
        "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16},
        "text_config": {
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            "sliding_window": 1024,
        },
    },
    "google/gemma-3-27b-it": {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "torch_dtype": "bfloat16",
        "text_config": {
            "head_dim": 128,
            "hidden_size": 5376,
            "intermediate_size": 21504,
            "model_type": "gemma3_text",
            "num_attention_heads": 32,
            "num_hidden_layers": 62,
            "num_key_value_heads": 16,
            "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            "sliding_window": 1024,
        },
    },
    "microsoft/phi-4": _dense("Phi3ForCausalLM", "phi3", (40, 5120, 40, 10, 17920, 100352, 16384), sliding_window=None),
    "microsoft/Phi-3.5-mini-instruct": _dense(
        "Phi3ForCausalLM",
        "phi3",
        (32, 3072, 32, 32, 8192, 32064, 131072),
        sliding_window=262144,
        original_max_position_embeddings=4096,
        rope_scaling={"type": "longrope", "long_factor": [1.08, 1.1], "short_factor": [1.0, 1.02]},
    ),
    "bigcode/starcoder2-15b": _dense(
        "Starcoder2ForCausalLM",
        "starcoder2",
        (40, 6144, 48, 4, 24576, 49152, 16384),
        sliding_window=4096,
        tie_word_embeddings=False,
    ),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": _dense(
        "NemotronHForCausalLM",
        "nemotron_h",
        (52, 2688, 32, 2, 1856, 131072, 262144),
        head_dim=128,
        hybrid_override_pattern=NEMOTRON_PATTERN,
        n_routed_experts=128,
        num_experts_per_tok=6,
        moe_intermediate_size=1856,
        moe_shared_expert_intermediate_size=3712,
        n_shared_experts=1,
        time_step_limit=[0.0, float("inf")],
        tie_word_embeddings=False,
    ),
}
"""Those that the sizes in `expected_sizes.py` are known of."""

BGE_LARGE = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "num_hidden_layers": 24,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "torch_dtype": "float32",
    "id2label": {"0": "LABEL_0"},
}
BGE_RERANKER = {
    **BGE_LARGE,
    "architectures": ["XLMRobertaForSequenceClassification"],
    "model_type": "xlm-roberta",
    "max_position_embeddings": 8194,
    "pad_token_id": 1,
    "vocab_size": 250002,
}
WHISPER_LARGE = {
    "architectures": ["WhisperForConditionalGeneration"],
    "model_type": "whisper",
    "d_model": 1280,
    "decoder_layers": 32,
    "decoder_attention_heads": 20,
    "decoder_ffn_dim": 5120,
    "encoder_layers": 32,
    "num_hidden_layers": 32,
    "max_source_positions": 1500,
    "max_target_positions": 448,
    "vocab_size": 51866,
    "torch_dtype": "float16",
    "suppress_tokens": None,
}
MAMBA = {
    "architectures": ["MambaForCausalLM"],
    "model_type": "mamba",
    "hidden_size": 2560,
    "num_hidden_layers": 64,
    "state_size": 16,
    "vocab_size": 50280,
    "time_step_max": float("nan"),
}
JAMBA = _dense(
    "JambaForCausalLM",
    "jamba",
    (32, 4096, 32, 8, 14336, 65536, 262144),
    attn_layer_period=8,
    attn_layer_offset=4,
    num_experts=16,
    num_experts_per_tok=2,
    expert_layer_period=2,
    expert_layer_offset=1,
)
QWEN3_NEXT = _dense(
    "Qwen3NextForCausalLM",
    "qwen3_next",
    (48, 2048, 16, 2, 5120, 151936, 262144),
    head_dim=256,
    full_attention_interval=4,
    num_experts=512,
    num_experts_per_tok=10,
    moe_intermediate_size=512,
    shared_expert_intermediate_size=512,
    decoder_sparse_step=1,
    mlp_only_layers=[],
)
OPT = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "num_hidden_layers": 12,
    "hidden_size": 768,
    "num_attention_heads": 12,
    "ffn_dim": 3072,
    "vocab_size": 50272,
    "max_position_embeddings": 2048,
    "torch_dtype": "float16",
    "word_embed_proj_dim": 768,
}
GPT_2 = {
    "architectures": ["GPT2LMHeadModel"],
    "n_layer": 12,
    "n_embd": 768,
    "n_head": 12,
    "n_positions": 1024,
    "n_inner": None,
    "vocab_size": 50257,
}
FALCON_7B = {
    "architectures": ["FalconForCausalLM"],
    "num_hidden_layers": 32,
    "hidden_size": 4544,
    "num_attention_heads": 71,
    "num_kv_heads": 71,
    "new_decoder_architecture": False,
    "multi_query": True,
    "vocab_size": 65024,
}
