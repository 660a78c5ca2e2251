"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import Line

LMDEPLOY = ("lmdeploy",)

LINES = (
    Line(
        LMDEPLOY,
        "AssertionError: No enough gpu memory for state cache. Please reduce max_batch_size.",
        "KVCacheTooSmall",
        "spec.maxNumSeqs",
        "LMDeploy 0.18.0, pytorch/engine/executor/base.py",
    ),
    Line(
        LMDEPLOY,
        "RuntimeError: No enough gpu memory for kv cache.",
        "KVCacheTooSmall",
        "spec.gpu.count",
        "LMDeploy 0.18.0, pytorch/engine/executor/base.py",
    ),
    Line(
        LMDEPLOY,
        "RuntimeError: [TM][ERROR] CUDA runtime error: out of memory "
        "/workspace/lmdeploy/src/turbomind/utils/allocator.h",
        "OutOfMemory",
        "--cache-max-entry-count",
        "LMDeploy, docs/en/faq.md",
    ),
    Line(
        LMDEPLOY,
        "AssertionError: no valid parallel config: dp=1, tp=4, ep=1, cp=1, device_num=None, "
        "available_devices=3; note the "
        'legacy "tp=1, ep=N" spelling must be "tp=N, ep=N"',
        "NotDivisible",
        "spec.gpu.count",
        "LMDeploy 0.18.0, turbomind/parallel_config.py",
    ),
    Line(
        LMDEPLOY,
        "AssertionError: unsupported quant config: {'quant_method': 'gptq', 'desc_act': True}",
        "QuantizationMismatch",
        "--backend=pytorch",
        "LMDeploy, turbomind/converter.py",
    ),
    Line(
        LMDEPLOY,
        "AssertionError: invalid quant_policy for TurboMind, FP8 quantization is not supported",
        "UnsupportedField",
        "spec.kvCacheDtype",
        "LMDeploy, messages.py",
    ),
    Line(
        LMDEPLOY,
        "RuntimeError: Can not found rewrite for architectures: ['Qwen9ForCausalLM']",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "LMDeploy, pytorch/models/patch.py",
    ),
    Line(
        LMDEPLOY,
        "AssertionError: chat template 'qwen9' is not registered. The builtin chat templates are: dict_keys(['base'])",
        "ChatTemplateInvalid",
        "spec.engineOptions.files",
        "LMDeploy, cli/utils.py",
    ),
    Line(
        LMDEPLOY,
        "lmdeploy serve api_server: error: argument --model-format: invalid choice: 'exl2' (choose from 'hf', 'awq')",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "LMDeploy, argparse",
    ),
    Line(
        LMDEPLOY,
        "RuntimeError: Failed to find valid checkpoint under '/models/empty'",
        "ModelNotFound",
        "spec.model.uri",
        "LMDeploy 0.18.0, turbomind/checkpoint.py",
    ),
)

GOOD_START = (
    "2026-03-19 12:50:01,954 - lmdeploy - WARNING - converter.py:159 - data type downgraded to float16\n"
    "[TM][WARNING] `session_len` truncated to 258368 due to limited KV cache memory\n"
    "HINT:    Please open http://0.0.0.0:8000 in a browser for detailed api usage!!!\n"
    "INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)\n"
)
"""A start that worked: no line of it is a cause."""
