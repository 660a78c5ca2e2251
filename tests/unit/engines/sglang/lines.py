"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import Line

SGLANG = ("sglang",)

LINES = (
    Line(
        SGLANG,
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: "
        "self.server_args.mem_fraction_static=0.7",
        "KVCacheTooSmall",
        "--mem-fraction-static",
        "SGLang 0.5.9, model_executor/model_runner_kv_cache_mixin.py",
    ),
    Line(
        SGLANG,
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.83. Raise "
        "--mem-fraction-static above 0.912 (minimum viable = 1 - available/pre = 0.9114). If using "
        "speculative decoding, "
        "draft weights are now counted.",
        "KVCacheTooSmall",
        "spec.gpu.count",
        "SGLang 0.5.23, mem_cache/kv_cache_configurator.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: Not enough GPU memory for hybrid (mamba/linear-attention) state cache. Computed "
        "max_mamba_cache_size=0 (total_rest_memory=0.41 GB, mamba_ratio=0.9).",
        "KVCacheTooSmall",
        "spec.maxNumSeqs",
        "SGLang 0.5.23, mem_cache/kv_cache_configurator.py",
    ),
    Line(
        SGLANG,
        "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has a total "
        "capacity of 95.00 GiB",
        "OutOfMemory",
        "--mem-fraction-static",
        "github.com/sgl-project/sglang/issues/5285",
    ),
    Line(
        SGLANG,
        "ValueError: Warning: User-specified context_length (131072) is greater than the derived "
        "context_length (32768). "
        "This may lead to incorrect model outputs or CUDA errors. Note that the derived context_length may differ from "
        "max_position_embeddings in the model's config. To allow overriding this maximum, set the env var "
        "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1",
        "ContextTooLong",
        "32768",
        "SGLang 0.5.23, configs/model_config.py",
    ),
    Line(
        SGLANG,
        "AssertionError: 40 is not divisible by 3",
        "NotDivisible",
        "spec.gpu.count",
        "SGLang, distributed/utils.py (divide)",
    ),
    Line(
        SGLANG,
        "ValueError: Quantization method specified in the model config (awq) does not match the quantization method "
        "specified in the `quantization` argument (fp8).",
        "QuantizationMismatch",
        "spec.quantization: auto",
        "SGLang, configs/model_config.py",
    ),
    Line(
        SGLANG,
        "ValueError: The quantization method gptq_marlin is not supported for the current GPU. Minimum capability: 80. "
        "Current capability: 75.",
        "QuantizationMismatch",
        "spec.gpu.type",
        "SGLang, model_loader/loader.py",
    ),
    Line(
        SGLANG,
        "ValueError: Invalid quantization method: hqq. Available methods: ['fp8', 'awq']",
        "QuantizationMismatch",
        "spec.engineOptions.version",
        "SGLang, layers/quantization/__init__.py",
    ),
    Line(
        SGLANG,
        "ValueError: torch.bfloat16 is not supported for quantization method gptq. Supported dtypes: [torch.float16]",
        "UnsupportedField",
        "spec.dtype",
        "SGLang, model_loader/loader.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: SGLang only supports sm75 and above.",
        "GpuNotSupported",
        "7.5",
        "SGLang, model_executor/model_runner_components/load_model_utils.py",
    ),
    Line(
        SGLANG,
        "ValueError: Model architectures ['Qwen9ForCausalLM'] are not supported for now. Supported architectures: "
        "dict_keys(['LlamaForCausalLM'])",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "SGLang, models/registry.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: Chat template /etc/none.jinja is not a built-in template name or a valid chat "
        "template file path.",
        "ChatTemplateInvalid",
        "spec.engineOptions.files",
        "SGLang, parser/template_manager.py",
    ),
    Line(
        SGLANG,
        "launch_server.py: error: argument --schedule-policy: invalid choice: 'fair' (choose from 'lpm', "
        "'random', 'fcfs')",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "SGLang, argparse",
    ),
    Line(
        SGLANG,
        "RuntimeError: Cannot find any model weights with `/models/empty`",
        "ModelNotFound",
        "spec.model.uri",
        "SGLang, model_loader/loader.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 "
        "(SIGKILL), a common "
        "cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.",
        "OutOfMemory",
        "limits.memory",
        "SGLang 0.5.14 and newer, entrypoints/engine.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: Rank 1 scheduler died during initialization (exit code: -7).",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "SGLang 0.5.14 and newer, entrypoints/engine.py",
    ),
    Line(
        SGLANG,
        "RuntimeError: Rank 0 scheduler died during initialization (exit code: -11).",
        "EngineCrashed",
        "spec.engineOptions.version",
        "SGLang 0.5.14 and newer, entrypoints/engine.py",
    ),
)

GOOD_START = (
    "[2025-03-27 21:33:30 TP0] Load weight end. type=Gemma3ForConditionalGeneration, dtype=torch.bfloat16, "
    "avail mem=131.08 GB, mem usage=8.13 GB.\n"
    "[2025-03-27 21:33:31 TP0] KV Cache is allocated. #tokens: 834615, K size: 54.12 GB, V size: 54.12 GB\n"
    "Warning: User-specified context_length (65536) is greater than the derived context_length (32768). "
    "This may lead to "
    "incorrect model outputs or CUDA errors.\n"
    "[2025-03-27 21:33:45] The server is fired up and ready to roll!\n"
)
"""A start that worked: no line of it is a cause."""
