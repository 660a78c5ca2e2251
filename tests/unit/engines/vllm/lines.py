"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import VLLM, Line

LINES = (
    Line(
        VLLM,
        "ValueError: To serve at least one request with the model's max seq len (131072), (16.00 GiB KV "
        "cache is needed, "
        "which is larger than the available KV cache memory (3.50 GiB). Based on the available memory, the estimated "
        "maximum model length is 28672. Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "28672",
        "vLLM 0.33.0, v1/core/kv_cache_planning.py",
    ),
    Line(
        VLLM,
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can "
        "be stored in KV "
        "cache (3664). Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "3664",
        "github.com/vllm-project/vllm/issues/2418",
    ),
    Line(
        VLLM,
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "spec.gpu.type",
        "vLLM 0.33.0, v1/core/kv_cache_planning.py",
    ),
    Line(
        VLLM,
        "ValueError: Available memory on node 0 (3.10/15.00 GiB) on kv cache allocation is less than "
        "requested memory for "
        "kv (4.00 GiB).",
        "KVCacheTooSmall",
        "VLLM_CPU_KVCACHE_SPACE",
        "vLLM 0.33.0, v1/worker/cpu_worker.py",
    ),
    Line(
        VLLM,
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests.",
        "OutOfMemory",
        "spec.maxNumSeqs",
        "vLLM 0.33.0, v1/worker/gpu_model_runner.py",
    ),
    Line(
        VLLM,
        "ValueError: Free memory on device cuda:0 (3.1/22.0 GiB) on startup is less than desired GPU "
        "memory utilization "
        "(0.92, 20.2 GiB).",
        "OutOfMemory",
        "--gpu-memory-utilization",
        "vLLM 0.33.0, v1/worker/utils.py",
    ),
    Line(
        VLLM,
        "  Value error, User-specified max_model_len (8192) is greater than the derived max_model_len "
        "(max_position_embeddings=2048.0 or model_max_length=None in model's config.json). To allow overriding this "
        "maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
        "ContextTooLong",
        " 2048 ",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "  Value error, User-specified max_model_len (8192) is greater than the derived max_model_len "
        "(max_position_embeddings=2048 or model_max_length=4096 in model's config.json). To allow overriding this "
        "maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
        "ContextTooLong",
        " 4096 ",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3).",
        "NotDivisible",
        "divisor of 40",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: Quantization method specified in the model config (awq) does not match the quantization",
        "QuantizationMismatch",
        "spec.quantization",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 80. Current "
        "capability: 75.",
        "QuantizationMismatch",
        "spec.gpu.type",
        "vLLM 0.33.0, config/vllm.py",
    ),
    Line(
        VLLM,
        "ValueError: Unknown quantization method: bitsandbytes. Must be one of [",
        "QuantizationMismatch",
        "spec.engineOptions.version",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: torch.bfloat16 is not supported for quantization method gptq. Supported dtypes: [torch.float16]",
        "UnsupportedField",
        "spec.dtype",
        "vLLM 0.33.0, config/vllm.py",
    ),
    Line(
        VLLM,
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.",
        "UnsupportedField",
        "spec.dtype: float16",
        "vLLM 0.33.0, platforms/cuda.py",
    ),
    Line(
        VLLM,
        "ValueError: The model type 'gemma3' does not support float16. Reason: Numerical instability.",
        "UnsupportedField",
        "bfloat16",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=576). Reasons: {",
        "GpuNotSupported",
        "spec.kvCacheDtype",
        "vLLM 0.33.0, platforms/cuda.py",
    ),
    Line(
        VLLM,
        "ValueError: Model architecture MllamaForConditionalGeneration was supported in vLLM until v0.10.2, and is not "
        "supported anymore.",
        "UnsupportedModelSource",
        "0.10.2",
        "vLLM 0.33.0, model_executor/models/registry.py",
    ),
    Line(
        VLLM,
        "ValueError: Model architectures ['Qwen9ForCausalLM'] are not supported for now. Supported "
        "architectures: dict_keys",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "vLLM 0.33.0, model_executor/models/registry.py",
    ),
    Line(
        VLLM,
        "ValueError: This model does not support `--runner generate`.",
        "UnsupportedModelSource",
        "--runner",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
        "AdapterRejected",
        "--max-lora-rank=64",
        "vLLM 0.33.0, lora/peft_helper.py",
    ),
    Line(
        VLLM,
        "ValueError: OPTForCausalLM does not support LoRA yet.",
        "AdapterRejected",
        "--lora-modules",
        "vLLM 0.33.0, v1/worker/lora_model_runner_mixin.py",
    ),
    Line(
        VLLM,
        "The supplied chat template string (/etc/chat.jinja) appears path-like, but doesn't exist! "
        "Tried: /etc/chat.jinja",
        "ChatTemplateInvalid",
        "spec.engineOptions.files",
        "vLLM 0.33.0, renderers/chat_utils/chat_template.py",
    ),
    Line(
        VLLM,
        "vllm serve: error: argument --speculative-config/-sc: Value {bad cannot be converted to <function loads at "
        "0x7f0000000000>.",
        "EngineArgumentRejected",
        "double quotes",
        "vLLM 0.33.0, engine/arg_utils.py",
    ),
    Line(
        VLLM,
        "KeyError: 'invalid tool call parser: lama3_json (chose from { deepseek_v3,hermes,llama3_json })'",
        "EngineArgumentRejected",
        "--tool-call-parser",
        "vLLM 0.33.0, entrypoints/common/cli_args.py",
    ),
    Line(
        VLLM,
        "  Value error, max_num_batched_tokens (512) must be greater than or equal to max_num_seqs (1024).",
        "EngineArgumentRejected",
        "spec.maxNumSeqs",
        "vLLM 0.33.0, config/scheduler.py",
    ),
    Line(
        VLLM,
        "vllm serve: error: argument --kv-cache-dtype: invalid choice: 'fp9'",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "vLLM 0.33.0, argparse",
    ),
    Line(
        VLLM,
        "vllm: error: unrecognized arguments: --swap-space",
        "EngineArgumentRejected",
        "spec.engineOptions.version",
        "vLLM 0.33.0, argparse",
    ),
    Line(
        VLLM,
        "Invalid repository ID or local directory specified: '/models/chat'.",
        "ModelNotFound",
        "spec.model.uri",
        "vLLM 0.33.0, transformers_utils/config.py",
    ),
    Line(
        VLLM,
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
        "{'EngineCore_DP0': -9}",
        "OutOfMemory",
        "limits.memory",
        "vLLM 0.33.0, v1/engine/utils.py",
    ),
    Line(
        VLLM,
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
        "{'EngineCore_DP0': -4}",
        "CpuNotSupported",
        "spec.pod.nodeSelector",
        "vLLM 0.33.0, v1/engine/utils.py",
    ),
    Line(
        VLLM,
        "ERROR Worker proc VllmWorker-1 died unexpectedly (exit code: -7), shutting down executor.",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "vLLM 0.33.0, v1/executor/multiproc_executor.py",
    ),
    Line(
        VLLM,
        "ERROR Worker proc VllmWorker-1 died unexpectedly (exit code: -11), shutting down executor.",
        "EngineCrashed",
        "spec.engineOptions.version",
        "vLLM 0.33.0, v1/executor/multiproc_executor.py",
    ),
)

GOOD_START = (
    "INFO [parallel.py:750] WARNING Address already in use. Retrying with a new port.\n"
    "WARNING [model.py:2678] User-specified max_model_len (8192) is greater than the derived max_model_len "
    "(max_position_embeddings=2048 or model_max_length=None in model's config.json). VLLM_ALLOW_LONG_MAX_MODEL_LEN "
    "must be used with extreme caution.\n"
    "UserWarning: Not enough free disk space to download the file. The expected file size is: 9989.87 MB.\n"
    "Ignored error while writing commit hash to /cache/hub/refs/main: [Errno 13] Permission denied: '/cache/hub'.\n"
    "WARNING HTTP Error 429 thrown while requesting HEAD https://huggingface.co/a/b. Retrying in 1s [Retry 1/5].\n"
    "INFO vLLM is using nccl==2.27.5\n"
    "INFO non-default args: {'model': 'a/b', 'trust_remote_code': True, 'max_model_len': 4096}\n"
    "INFO:     Application startup complete.\n"
)
"""A start that worked: no line of it is a cause."""
