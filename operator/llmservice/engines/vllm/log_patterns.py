"""Lines of vLLM's log that show why it exited.

Read in the released source of 0.33.0: v1/core/kv_cache_planning.py, v1/worker/{utils,gpu_model_runner,cpu_worker}.py,
v1/engine/utils.py, v1/executor/multiproc_executor.py, config/scheduler.py, engine/arg_utils.py,
entrypoints/common/cli_args.py; what older releases write differently stands beside it. Belongs here too: the order of
all patterns that vLLM's log is read with.
"""

from dataclasses import replace

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS, DRIVER_TOO_OLD
from llmservice.engines.checkpoint_log_patterns import CHECKPOINT_LOG_PATTERNS, NO_CUDA_COMPILER, NOT_COMPILED
from llmservice.engines.engine import LogPattern
from llmservice.engines.hugging_face_log_patterns import HUB_LOG_PATTERNS
from llmservice.engines.system_log_patterns import FILE_LOG_PATTERNS, SYSTEM_LOG_PATTERNS
from llmservice.engines.vllm.model_log_patterns import VLLM_MODEL_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_ROOM = "set spec.kvCacheDtype: fp8, or raise spec.gpu.count"

_MEMORY = (
    LogPattern(
        cause="the KV cache has no room for one request of full length",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(
            r"To serve at least one request with the model's max seq len"
            r"([^\n]*estimated maximum model length is (?P<largest>[0-9]+))?"
        ),
        remedy=f"lower spec.maxModelLen, {_ROOM}",
        remedy_in_numbers=f"set spec.maxModelLen to {{largest}} or less, {_ROOM}",
    ),
    LogPattern(
        cause="the KV cache has no room for one request of full length",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(
            r"is larger than the maximum number of tokens( that can be stored in KV cache \((?P<largest>[0-9]+)\))?"
        ),
        remedy=f"lower spec.maxModelLen, {_ROOM}",
        remedy_in_numbers=f"set spec.maxModelLen to {{largest}} or less, {_ROOM}",
    ),
    LogPattern(
        cause="the weights leave no memory for a KV cache",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"No available memory for the cache blocks"),
        remedy="use a quantized checkpoint, a larger spec.gpu.type or more spec.gpu.count",
    ),
    LogPattern(
        cause="the container has no memory for the KV cache that it is to reserve",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"leaving none for the KV cache|is less than requested memory for kv|on kv cache allocation"),
        remedy=(
            "raise spec.pod.resources.limits.memory, or set VLLM_CPU_KVCACHE_SPACE (GiB) in "
            "spec.engineOptions.env to less"
        ),
    ),
    LogPattern(
        cause="so many concurrent requests need more memory than the device has left",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"when warming up (sampler|pooler)"),
        remedy="lower spec.maxNumSeqs",
    ),
    LogPattern(
        cause="another process uses the device",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"is less than desired GPU memory utilization"),
        remedy="give the pod its own, or lower --gpu-memory-utilization in the args",
        uncertain=True,
    ),
)

_ARGUMENTS = (
    LogPattern(
        cause="an argument must be JSON, and is not",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"cannot be converted to <function loads|: invalid loads value: "),
        remedy="correct it in spec.engineOptions.args: one line of JSON with double quotes, without quotes around it",
    ),
    LogPattern(
        cause="a parser of tool calls or reasoning is missing or misspelled",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"invalid (tool call|reasoning) parser|requires --tool-call-parser"),
        remedy="set --tool-call-parser and --reasoning-parser in spec.engineOptions.args to names that the line lists",
    ),
    LogPattern(
        cause="a step has no room for a token of each concurrent request",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"max_num_batched_tokens \([0-9]+\) (must be greater than|is smaller than)"),
        remedy="raise --max-num-batched-tokens in spec.engineOptions.args or leave it out, or lower spec.maxNumSeqs",
    ),
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"vllm( serve)?: error: |error: (unrecognized arguments|argument -)"),
        remedy="correct spec.engineOptions.args, or set a spec.engineOptions.version that accepts it",
    ),
)

_DRIVER = (
    LogPattern(
        cause="the driver of the node is too old",
        reason=Reason.DRIVER_TOO_OLD,
        pattern=compiled(DRIVER_TOO_OLD),
        remedy=(
            "update the node's driver (CUDA 13 needs R580), set VLLM_ENABLE_CUDA_COMPATIBILITY=1 in "
            "spec.engineOptions.env on a data centre card, or set an older spec.engineOptions.version"
        ),
    ),
)

_AROUND = {
    NO_CUDA_COMPILER: (
        "set VLLM_USE_FLASHINFER_SAMPLER=0 in spec.engineOptions.env, or use an image with the CUDA toolkit "
        "(spec.engineOptions.image)"
    ),
    NOT_COMPILED: "add --enforce-eager to spec.engineOptions.args, or set another spec.engineOptions.version",
}
"""Ways around what other engines cannot do without."""
_CHECKPOINT = tuple(
    replace(pattern, remedy=_AROUND.get(pattern, pattern.remedy)) for pattern in CHECKPOINT_LOG_PATTERNS
)

_FILES_OF_MODEL = (
    LogPattern(
        cause="there is no model at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(
            r"Invalid repository ID or local directory specified|Could not detect config format"
            r"|Cannot find any (safetensors )?model weights|Cannot find the config file for"
        ),
        remedy="spec.model.uri must name a repository or a folder with config.json and weights",
    ),
)

_SIGNALS = (
    LogPattern(
        cause="the kernel killed the engine's process for want of memory",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"Failed core proc\(s\): \{[^\n}]*: -9\b|died unexpectedly \(exit code: -9\)"),
        remedy="raise spec.pod.resources.limits.memory",
        uncertain=True,
    ),
    LogPattern(
        cause="the CPU lacks instructions that the engine is built for",
        reason=Reason.CPU_NOT_SUPPORTED,
        pattern=compiled(r"Failed core proc\(s\): \{[^\n}]*: -4\b|died unexpectedly \(exit code: -4\)"),
        remedy="choose nodes with a newer CPU in spec.pod.nodeSelector, or another build in spec.engineOptions.image",
    ),
    LogPattern(
        cause="shared memory is too small, or a file on the volume cannot be read",
        reason=Reason.SHARED_MEMORY_TOO_SMALL,
        pattern=compiled(r"Failed core proc\(s\): \{[^\n}]*: -7\b|died unexpectedly \(exit code: -7\)"),
        remedy="raise spec.pod.sharedMemory",
    ),
    LogPattern(
        cause="the engine crashed in its own code",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"Failed core proc\(s\): \{[^\n}]*: -(6|11)\b|died unexpectedly \(exit code: -(6|11)\)"),
        remedy="set another spec.engineOptions.version, and report it to the engine's project",
    ),
)
"""Signals that ended one of its processes, where the log has no other word of it."""

VLLM_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_MEMORY,
    *VLLM_MODEL_LOG_PATTERNS,
    *_ARGUMENTS,
    *_DRIVER,
    *ACCELERATOR_LOG_PATTERNS,
    *_CHECKPOINT,
    *HUB_LOG_PATTERNS,
    *_FILES_OF_MODEL,
    *_SIGNALS,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
