"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import TGI, Line

LINES = (
    Line(
        TGI,
        "libpython3.11.so.1.0: cannot open shared object file: No such file",
        "ContainerRefused",
        "3.1.0",
        "TGI 3.3.5, its image as another user",
    ),
    Line(
        TGI,
        "Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`",
        "KVCacheTooSmall",
        "spec.maxModelLen",
        "TGI, server/text_generation_server/models/flash_causal_lm.py",
    ),
    Line(
        TGI,
        "Error: Backend(NotEnoughMemory): Not enough memory to handle `max_total_tokens=98304`",
        "KVCacheTooSmall",
        "spec.gpu.count",
        "TGI, backends/v3/src/lib.rs",
    ),
    Line(
        TGI,
        "ValueError: The backend rocm does not support sliding window attention that is used by the "
        "model type mistral. To "
        "use this model nonetheless with the rocm backend, please launch TGI with the argument "
        "`--max-input-tokens` smaller "
        "than sliding_window=4096 (got here max_input_tokens=8191).",
        "ContextTooLong",
        " 4096 ",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "ValueError: `num_heads` must be divisible by `num_shards` (got `num_heads`: 71 and `num_shards`: 2",
        "NotDivisible",
        "divisor of 71",
        "TGI, custom_modeling/flash_rw_modeling.py",
    ),
    Line(
        TGI,
        "NotImplementedError: Sharded GPT-2 requires Flash Attention enabled models.",
        "UnsupportedField",
        "spec.gpu.count: 1",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "ValueError: Unsupported model type qwen3_next",
        "UnsupportedModelSource",
        "TGI",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "error: unexpected argument '--max-batch' found",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "TGI, clap 4",
    ),
    Line(
        TGI,
        "error: invalid value 'int4' for '--quantize <QUANTIZE>'",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "TGI, clap 4",
    ),
    Line(
        TGI,
        "text_generation_server.utils.hub.EntryNotFoundError: No .safetensors weights found for model a/b",
        "ModelNotFound",
        "spec.model.uri",
        "TGI, server/text_generation_server/utils/hub.py",
    ),
    Line(
        TGI,
        "ERROR text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=0",
        "OutOfMemory",
        "limits.memory",
        "TGI, launcher/src/main.rs",
    ),
    Line(
        TGI,
        "Shard process was signaled to shutdown with signal 4 rank=0 Error: ShardCannotStart",
        "CpuNotSupported",
        "spec.pod.nodeSelector",
        "github.com/huggingface/text-generation-inference/issues/2238",
    ),
    Line(
        TGI,
        "Error: Download process was signaled to shutdown with signal 7",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "github.com/huggingface/text-generation-inference/issues/446",
    ),
    Line(
        TGI,
        "Shard process was signaled to shutdown with signal 11 rank=2",
        "EngineCrashed",
        "spec.engineOptions.version",
        "github.com/huggingface/text-generation-inference/issues/2293",
    ),
)

GOOD_START = (
    "WARN text_generation_launcher: Bitsandbytes is deprecated, use `eetq` instead\n"
    "INFO text_generation_launcher: Args { trust_remote_code: false, max_input_tokens: Some(4095) }\n"
    "INFO text_generation_router: Connected\n"
)
"""A start that worked: no line of it is a cause."""
