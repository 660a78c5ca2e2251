"""Lines of SGLang's log that show why it exited.

Read in the released source of 0.5.9 to 0.5.23: server_args.py, mem_cache/kv_cache_configurator.py,
model_executor/pool_configurator.py, configs/model_config.py, distributed/utils.py, models/registry.py,
model_loader/loader.py, parser/template_manager.py, entrypoints/engine.py. Belongs here too: the order of all patterns
that its log is read with.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.checkpoint_log_patterns import CHECKPOINT_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.hugging_face_log_patterns import HUB_LOG_PATTERNS
from llmservice.engines.system_log_patterns import FILE_LOG_PATTERNS, SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_MEMORY = (
    LogPattern(
        cause="the weights leave no memory for a KV cache",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(
            r"Loaded weights leave no GPU memory for the KV cache"
            r"|Not enough memory\. Please try to increase --mem-fraction-static"
        ),
        remedy=(
            "use a quantized checkpoint, a larger spec.gpu.type or more spec.gpu.count; if little is missing raise "
            "--mem-fraction-static in spec.engineOptions.args"
        ),
    ),
    LogPattern(
        cause="the states of a hybrid model leave no room for requests",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(
            r"Not enough GPU memory for hybrid \(mamba|state cache is too small to serve"
            r"|SWA pool \([0-9]+ tokens\) cannot hold"
        ),
        remedy="lower spec.maxNumSeqs, use a larger spec.gpu.type or more spec.gpu.count",
    ),
    LogPattern(
        cause="the CUDA graphs need more memory than the device has left",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"Capture cuda graph failed: [^\n]*out of memory"),
        remedy="add --mem-fraction-static=0.8 (or less) to spec.engineOptions.args, or lower spec.maxNumSeqs",
    ),
)

_MODEL = (
    LogPattern(
        cause="the context is longer than the model takes",
        reason=Reason.CONTEXT_TOO_LONG,
        pattern=compiled(
            r"greater than the derived context_length \((?P<largest>[0-9]+)\)[^\n]*To allow overriding this maximum"
        ),
        remedy="lower spec.maxModelLen to the model's context length",
        remedy_in_numbers="set spec.maxModelLen to {largest} or less",
    ),
    LogPattern(
        cause="the model cannot be divided by so many devices",
        reason=Reason.NOT_DIVISIBLE,
        pattern=compiled(
            r"AssertionError: [0-9]+ is not divisible by [0-9]+|must be divisible by (tp_size|moe_tp_size)"
        ),
        remedy="set spec.gpu.count to a divisor of the number of heads",
    ),
    LogPattern(
        cause="the checkpoint is quantized in another way",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"Quantization method specified in the model config"),
        remedy="set spec.quantization: auto; an online- quantization needs an unquantized checkpoint",
    ),
    LogPattern(
        cause="this quantization does not run on this card",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"is not supported for the current GPU|quantization is currently not supported in ROCm"),
        remedy="use another checkpoint or another spec.gpu.type",
    ),
    LogPattern(
        cause="this version does not know the quantization",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"(Unknown|Invalid) quantization method: "),
        remedy="use another checkpoint or another spec.engineOptions.version",
    ),
    LogPattern(
        cause="the quantization needs another number format",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"is not supported for quantization method"),
        remedy="set spec.dtype to one that the line names",
    ),
    LogPattern(
        cause="the card is older than the engine supports",
        reason=Reason.GPU_NOT_SUPPORTED,
        pattern=compiled(r"SGLang only supports sm75 and above"),
        remedy="set another spec.gpu.type, of compute capability 7.5 or newer, or another engine",
    ),
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"are not supported for now\. Supported architectures"),
        remedy="set a newer spec.engineOptions.version, or use another engine",
    ),
    LogPattern(
        cause="the chat template cannot be used",
        reason=Reason.CHAT_TEMPLATE_INVALID,
        pattern=compiled(r"(Chat|Completion) template [^\n]* is not a built-in template name"),
        remedy="mount it with spec.engineOptions.files, and give that path to --chat-template in the args",
    ),
)

_ARGUMENTS = (
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"launch_server\.py: error: |error: (unrecognized arguments|argument -)"),
        remedy="correct spec.engineOptions.args, or set a spec.engineOptions.version that accepts it",
    ),
)

_FILES_OF_MODEL = (
    LogPattern(
        cause="there are no weights at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"Cannot find any model weights with"),
        remedy="spec.model.uri must name a repository or a folder with config.json and safetensors, or a GGUF file",
    ),
)

_SIGNALS = (
    LogPattern(
        cause="the kernel killed the engine's process for want of memory",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"scheduler died during initialization \(exit code: -9\)"),
        remedy="raise spec.pod.resources.limits.memory",
        uncertain=True,
    ),
    LogPattern(
        cause="shared memory is too small, or a file on the volume cannot be read",
        reason=Reason.SHARED_MEMORY_TOO_SMALL,
        pattern=compiled(r"scheduler died during initialization \(exit code: -7\)"),
        remedy="raise spec.pod.sharedMemory",
    ),
    LogPattern(
        cause="the engine crashed in its own code",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"scheduler died during initialization \(exit code: -(6|11)\)"),
        remedy="set another spec.engineOptions.version, and report it to the engine's project",
    ),
)
"""Signals that ended one of its processes, where the log has no other word of it."""

SGLANG_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_MEMORY,
    *_MODEL,
    *_ARGUMENTS,
    *ACCELERATOR_LOG_PATTERNS,
    *CHECKPOINT_LOG_PATTERNS,
    *HUB_LOG_PATTERNS,
    *_FILES_OF_MODEL,
    *_SIGNALS,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
