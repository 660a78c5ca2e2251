"""Lines of TabbyAPI's log that show why it exited.

Read in its source at 0158fb48 and e632af41: backends/exllamav3/model.py, common/{model,transformers_utils,
optional_dependencies}.py, main.py; and in ExLlamaV3's: model/{config,model,model_ls}.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.system_log_patterns import FILE_LOG_PATTERNS, SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_SPECIFIC = (
    LogPattern(
        cause="the device is older than what ExLlamaV3 has kernels for",
        reason=Reason.GPU_NOT_SUPPORTED,
        pattern=compiled(r"Unable to run ExllamaV3 because an unsupported GPU"),
        remedy="set spec.gpu.type to an NVIDIA device of compute capability 8.0 or newer, or use another engine",
    ),
    LogPattern(
        cause="the checkpoint needs ExLlamaV2, which was removed",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"Models quantized with '[a-z0-9]{1,16}' require the exllamav2 backend"),
        remedy="name an EXL3 or an unquantized checkpoint in spec.model.uri, or use another engine",
    ),
    LogPattern(
        cause="the model and the KV cache of all requests do not fit the devices",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"Insufficient VRAM (in split )?for model and cache"),
        remedy=(
            "lower spec.maxModelLen or spec.maxNumSeqs, set spec.kvCacheDtype: q8, take a checkpoint of fewer bits or "
            "a larger spec.gpu.type, or raise spec.gpu.count"
        ),
    ),
    LogPattern(
        cause="the model cannot be divided into layers that devices share",
        reason=Reason.NOT_DIVISIBLE,
        pattern=compiled(r"Tensor-parallel is not currently implemented for"),
        remedy="remove spec.gpu.parallelism.tensor: each device then has whole layers",
    ),
    LogPattern(
        cause="the engine does not know the model",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"Unknown architecture [A-Za-z0-9_]{1,80} in"),
        remedy="use a newer image of your own (spec.engineOptions.image), or another engine",
    ),
    LogPattern(
        cause="there is no model at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"Failed to load config\.json from"),
        remedy="spec.model.uri must name a folder with config.json and safetensors",
    ),
    LogPattern(
        cause="the image lacks a compiler's files that this kind of model needs",
        reason=Reason.COMPILATION_FAILED,
        pattern=compiled(r"fatal error: Python\.h: No such file or directory"),
        remedy="use an image of your own that adds the package python3-dev (spec.engineOptions.image)",
    ),
    LogPattern(
        cause="the image's ExLlamaV3 is too old or missing",
        reason=Reason.PACKAGE_MISSING,
        pattern=compiled(r"TabbyAPI requires exllamav3 [^\n]{1,80} or greater|Inference dependencies for TabbyAPI"),
        remedy="correct spec.engineOptions.image, or omit it for the catalogue's",
    ),
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"main\.py: error: |validation errors? for TabbyConfigModel"),
        remedy="correct spec.engineOptions.args",
    ),
)

TABBYAPI_LOG_PATTERNS = (*SYSTEM_LOG_PATTERNS, *_SPECIFIC, *ACCELERATOR_LOG_PATTERNS, *FILE_LOG_PATTERNS)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
