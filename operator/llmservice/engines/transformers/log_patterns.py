"""Lines of its log that show why it exited: of its own few, most are of the libraries.

Read in transformers 5.23: cli/serve.py, cli/serving/model_manager.py, generation/continuous_batching; of click 8.5 and
uvicorn 0.54 what was seen.
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
        cause="a request needed more KV cache than there is, which ends the thread that computes",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"No requests can be scheduled and no requests can be offloaded"),
        remedy="raise spec.maxModelLen or spec.maxNumSeqs, and keep clients from asking for longer answers",
    ),
    LogPattern(
        cause="the KV cache does not fit beside the model",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"Memory footprint [0-9]+ is more than available memory"),
        remedy="lower spec.maxNumSeqs or spec.maxModelLen, or choose a larger spec.gpu.type",
    ),
    LogPattern(
        cause="the version has no such architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"AttributeError: module transformers has no attribute|Unknown modality for: "),
        remedy="set another spec.engineOptions.version, or another engine",
    ),
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(
            r"No such option: |Invalid value for '|Unsupported (attention implementation|quantization method|dtype): "
        ),
        remedy="correct spec.engineOptions.args",
    ),
    LogPattern(
        cause="the image has no packages for serving",
        reason=Reason.PACKAGE_MISSING,
        pattern=compiled(r"Missing dependencies for serving"),
        remedy="use the engine's own image, or install transformers[serving] in yours (spec.engineOptions.image)",
    ),
)

TRANSFORMERS_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_SPECIFIC,
    *ACCELERATOR_LOG_PATTERNS,
    *CHECKPOINT_LOG_PATTERNS,
    *HUB_LOG_PATTERNS,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
