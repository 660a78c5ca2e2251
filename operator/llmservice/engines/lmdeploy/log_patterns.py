"""Lines of LMDeploy's log that show why it exited.

Read in the released source of 0.14.0 to 0.18.0: turbomind/{converter,turbomind,parallel_config}.py, messages.py,
pytorch/engine/executor/base.py, pytorch/models/patch.py, pytorch/check_env/, archs.py, and the strings of TurboMind's
library. Belongs here too: the order of all patterns that its log is read with.
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
        cause="the states of a hybrid model leave no room for requests",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"No enough gpu memory for state cache"),
        remedy="lower spec.maxNumSeqs, or use a larger spec.gpu.type",
    ),
    LogPattern(
        cause="the weights leave no memory for a KV cache",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"No enough gpu memory for (kv cache|runtime)|(FATAL|ERROR)[^\n]{0,80}No enough blocks"),
        remedy="use a quantized checkpoint, a larger spec.gpu.type or more spec.gpu.count",
    ),
    LogPattern(
        cause="the memory of the device is used up",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"CUDA (runtime )?error: out of memory"),
        remedy="lower --cache-max-entry-count (0.8) in spec.engineOptions.args, or use a larger spec.gpu.type",
    ),
)

_MODEL = (
    LogPattern(
        cause="the model cannot be divided by so many devices",
        reason=Reason.NOT_DIVISIBLE,
        pattern=compiled(r"no valid parallel config: |AssertionError: [^\n]{0,80}(tp|world_size)[^\n]{0,40} (==|%)"),
        remedy="set spec.gpu.count to a power of two that divides the number of heads",
    ),
    LogPattern(
        cause="the checkpoint is quantized in a way that the engine does not read",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(
            r"unsupported quant.config: |mismatched quant (method|group size)|Unsupported group_size="
            r"|Unsupported weight quantization method|Compressed-tensors [^\n]{0,80} (must|is not supported)"
        ),
        remedy="use another checkpoint, add --backend=pytorch to spec.engineOptions.args, or use another engine",
    ),
    LogPattern(
        cause="the KV cache of 8-bit floats needs the engine in PyTorch",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"invalid quant_policy"),
        remedy="set spec.kvCacheDtype: int8, or leave --backend out of spec.engineOptions.args",
    ),
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(
            r"Can not found rewrite for|support has been removed from LMDeploy|Could not find model architecture from"
        ),
        remedy="set a newer spec.engineOptions.version, or use another engine",
    ),
    LogPattern(
        cause="the chat template cannot be used",
        reason=Reason.CHAT_TEMPLATE_INVALID,
        pattern=compiled(r"chat template '[^\n']{0,200}' is not registered"),
        remedy="mount it with spec.engineOptions.files, and give that path to --chat-template in the args",
    ),
)

_ARGUMENTS = (
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"lmdeploy( serve)?( api_server)?: error: |error: (unrecognized arguments|argument -)"),
        remedy="correct spec.engineOptions.args, or set a spec.engineOptions.version that accepts it",
    ),
)

_FILES_OF_MODEL = (
    LogPattern(
        cause="there are no weights at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"Failed to find valid (checkpoint|loader) (under|for)"),
        remedy="spec.model.uri must name a repository or a folder with config.json and safetensors",
    ),
)

LMDEPLOY_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_MEMORY,
    *_MODEL,
    *_ARGUMENTS,
    *ACCELERATOR_LOG_PATTERNS,
    *CHECKPOINT_LOG_PATTERNS,
    *HUB_LOG_PATTERNS,
    *_FILES_OF_MODEL,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
