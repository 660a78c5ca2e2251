"""Lines of TGI's log that show why it exited.

Read in its source at the last commit (db931fc): launcher/src/main.rs, backends/v3/src/lib.rs, router/src/server.rs,
server/text_generation_server/models/{__init__,flash_causal_lm}.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.checkpoint_log_patterns import CHECKPOINT_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.hugging_face_log_patterns import HUB_LOG_PATTERNS
from llmservice.engines.system_log_patterns import FILE_LOG_PATTERNS, SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_SPECIFIC = (
    LogPattern(
        cause="this image runs as root only",
        reason=Reason.CONTAINER_REFUSED,
        pattern=compiled(r"libpython[0-9.]+so[0-9.]*: cannot open shared object file"),
        remedy="omit spec.pod.securityContext.runAsUser, or use version 3.1.0 or your own image",
    ),
    LogPattern(
        cause="the KV cache has no room for one request of full length",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(
            r"Not enough memory to handle (`max_total_tokens|\d+ (prefill|total) tokens)"
            r"|`max_(batch_prefill|total)_tokens` must be <= `max_batch_total_tokens`"
        ),
        remedy="lower spec.maxModelLen, take a quantized checkpoint or a larger spec.gpu.type, or raise spec.gpu.count",
        remedy_in_numbers=(
            "set spec.maxModelLen to {largest} or less, take a quantized checkpoint or a larger spec.gpu.type, "
            "or raise spec.gpu.count"
        ),
    ),
    LogPattern(
        cause="the context is longer than the sliding window, which is not supported here",
        reason=Reason.CONTEXT_TOO_LONG,
        pattern=compiled(r"does not support sliding window attention[^\n]*sliding_window=(?P<largest>[0-9]+)"),
        remedy="lower spec.maxModelLen to the sliding window",
        remedy_in_numbers="set spec.maxModelLen to {largest} or less",
    ),
    LogPattern(
        cause="the model cannot be divided by so many devices",
        reason=Reason.NOT_DIVISIBLE,
        pattern=compiled(
            r"`num_heads` must be divisible by `num_shards` \(got `num_heads`: (?P<heads>[0-9]+)"
            r"|Tensor Parallelism is not implemented for"
        ),
        remedy="set spec.gpu.count to a divisor of the number of heads",
        remedy_in_numbers="set spec.gpu.count to a divisor of {heads}",
    ),
    LogPattern(
        cause="the model runs on one device only",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(
            r"requires Flash Attention enabled models|sharded is not supported|Sharding is currently not supported"
        ),
        remedy="set spec.gpu.count: 1, or use another engine",
    ),
    LogPattern(
        cause="the engine does not know the model",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"Unsupported model type|Could not determine model type for"),
        remedy="use another engine: TGI no longer adds models",
    ),
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(
            r"error: (unexpected argument|invalid value|the argument|a value is required)|Invalid argument: "
        ),
        remedy="correct spec.engineOptions.args",
    ),
)

_FILES_OF_MODEL = (
    LogPattern(
        cause="there are no weights at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"No \.?safetensors weights found|No local weights found"),
        remedy="spec.model.uri must name a repository or a folder with config.json and safetensors",
    ),
)

_SIGNALS = (
    LogPattern(
        cause="the kernel killed a shard for want of memory",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"process was signaled to shutdown with signal 9\b"),
        remedy="raise spec.pod.resources.limits.memory",
        uncertain=True,
    ),
    LogPattern(
        cause="the CPU lacks instructions that the engine is built for",
        reason=Reason.CPU_NOT_SUPPORTED,
        pattern=compiled(r"process was signaled to shutdown with signal 4\b"),
        remedy="choose nodes with a newer CPU in spec.pod.nodeSelector",
    ),
    LogPattern(
        cause="shared memory is too small, or a file on the volume cannot be read",
        reason=Reason.SHARED_MEMORY_TOO_SMALL,
        pattern=compiled(r"process was signaled to shutdown with signal 7\b"),
        remedy="raise spec.pod.sharedMemory",
    ),
    LogPattern(
        cause="the engine crashed in its own code",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"process was signaled to shutdown with signal (6|11)\b"),
        remedy="set another spec.engineOptions.version or another engine: TGI is in maintenance",
    ),
)
"""Signals that ended a shard or the download, where the log has no other word of it."""

TGI_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_SPECIFIC,
    *ACCELERATOR_LOG_PATTERNS,
    *CHECKPOINT_LOG_PATTERNS,
    *HUB_LOG_PATTERNS,
    *_FILES_OF_MODEL,
    *_SIGNALS,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
