"""Lines of the server's log that show why it exited.

Its own: images/ctranslate2/ctranslate2_server/{errors,model_files,weights,serving}.py. The library's: messages of
CTranslate2 4.8.5, read in its binary and seen on a CPU.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.hugging_face_log_patterns import HUB_LOG_PATTERNS
from llmservice.engines.system_log_patterns import FILE_LOG_PATTERNS, SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_CONVERT = (
    "convert the model: ct2-transformers-converter --model … --output_dir … --copy_files tokenizer.json "
    "tokenizer_config.json generation_config.json"
)

_SPECIFIC = (
    LogPattern(
        cause="the model is no decoder: translation and speech models are not served",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"only decoders \(TransformerDecoderSpec\) are served"),
        remedy="name a model that goes on with a text in spec.model.uri",
    ),
    LogPattern(
        cause="the model is not in CTranslate2's format",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(
            r"is no model of CTranslate2|Unable to open file 'model\.bin'|Unsupported model binary version"
        ),
        remedy=_CONVERT,
    ),
    LogPattern(
        cause="the tokenizer is missing",
        reason=Reason.TOKENIZER_UNUSABLE,
        pattern=compiled(r"tokenizer\.json is missing: convert"),
        remedy=f"copy tokenizer.json of the original model into the folder, or {_CONVERT}",
    ),
    LogPattern(
        cause="the number format is not supported here",
        reason=Reason.UNSUPPORTED_BY_DEVICE,
        pattern=compiled(r"Requested [a-z0-9_]+ compute type, but the target device or backend do not support"),
        remedy="omit spec.dtype and spec.quantization, or choose another spec.gpu.type",
    ),
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"ctranslate2-server: error: "),
        remedy="correct spec.engineOptions.args",
    ),
)

_FOLDERS = (
    LogPattern(
        cause="there is no folder at this place",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"cannot serve: \S+ is no folder"),
        remedy="spec.model.uri must name a folder with model.bin, config.json and tokenizer.json",
    ),
)

CTRANSLATE2_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_SPECIFIC,
    *ACCELERATOR_LOG_PATTERNS,
    *HUB_LOG_PATTERNS,
    *_FOLDERS,
    *FILE_LOG_PATTERNS,
)
"""In the order in which they decide: what a later phase says before what an earlier one says, which may have healed."""
