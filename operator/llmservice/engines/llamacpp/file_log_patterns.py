"""What llama.cpp says of a model's file that it cannot load.

Seen from the program of build b11312, or read in its source (commit 0c1e570): src/llama-{model-loader,vocab}.cpp,
ggml/src/gguf.cpp.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

LLAMACPP_FILE_LOG_PATTERNS = (
    LogPattern(
        cause="a part of the model's file is missing",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(r"failed to load GGUF split|invalid split (count|file)"),
        remedy="copy every part (-00001-of-…) to the same folder",
    ),
    LogPattern(
        cause="this is not the first part of the model's file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"illegal split file idx"),
        remedy="name the first part (-00001-of-…) in spec.model.uri or spec.model.file",
    ),
    LogPattern(
        cause="there is no such file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"' \(No such file or directory\)"),
        remedy="correct the path in spec.model.uri, or copy the file to the volume",
    ),
    LogPattern(
        cause="the user of the pod may not read the model",
        reason=Reason.FILE_NOT_ACCESSIBLE,
        pattern=compiled(r"' \(Permission denied\)"),
        remedy="set spec.pod.securityContext.runAsUser, fsGroup or supplementalGroups",
    ),
    LogPattern(
        cause="the file is not a GGUF file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"invalid magic characters|failed to read magic"),
        remedy="name one in spec.model.uri or spec.model.file",
    ),
    LogPattern(
        cause="the file is damaged or cut off",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(
            r"data is not within the file bounds|failed to read (key-value pairs|tensor (info|data))|corrupted model: "
        ),
        remedy="copy it to the volume again; a download is repeated by deleting the pod",
    ),
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"unknown model architecture: "),
        remedy="set a newer spec.engineOptions.version, or another engine",
    ),
    LogPattern(
        cause="the version does not know a number format in the file",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"has invalid ggml type"),
        remedy="set a newer spec.engineOptions.version, or a file of another quantization",
    ),
    LogPattern(
        cause="the tokenizer in the file is missing or unknown to this version",
        reason=Reason.TOKENIZER_UNUSABLE,
        pattern=compiled(r"unknown (pre-tokenizer type|tokenizer): |cannot find tokenizer (merges|vocab)"),
        remedy="set a newer spec.engineOptions.version, or a file that was converted by one",
    ),
    LogPattern(
        cause="the file and this version disagree about the model's tensors",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"wrong number of tensors; |missing tensor '|has wrong shape; "),
        remedy="set another spec.engineOptions.version, or a file that was converted for it",
    ),
)
"""The most specific first: a missing part is also a missing file."""
