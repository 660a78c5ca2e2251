"""What engines built on transformers and PyTorch say when a checkpoint, its tokenizer or their own kernels fail them.

Sources: transformers 5.23 (utils/hub.py, tokenization_utils_base.py, dynamic_module_utils.py), safetensors 0.8, triton
(runtime/build.py), flashinfer 0.7 (jit/cpp_ext.py).
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

NO_CUDA_COMPILER = LogPattern(
    cause="the image has no compiler for CUDA",
    reason=Reason.COMPILATION_FAILED,
    pattern=compiled(r"Could not find nvcc|nvcc: not found|directory: 'nvcc'|/nvcc'$"),
    remedy="use an image with the CUDA toolkit (spec.engineOptions.image)",
)
NOT_COMPILED = LogPattern(
    cause="the model could not be compiled",
    reason=Reason.COMPILATION_FAILED,
    pattern=compiled(
        r"BackendCompilerFailed|torch\._inductor\.exc\.|Internal Triton PTX codegen error|ptxas fatal"
        r"|Ninja build failed|ninja: build stopped"
    ),
    remedy="set another spec.engineOptions.version",
)
"""An engine with a way around one of these puts it, with that as the remedy, before all others."""

CHECKPOINT_LOG_PATTERNS = (
    LogPattern(
        cause="the model needs its own code",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(
            r"contains custom code which must be executed|requires you to execute"
            r"|(argument|option|setting) `?trust_remote_code=True"
        ),
        remedy="read the model's code, then set spec.model.trustRemoteCode: true and pin spec.model.revision",
    ),
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"does not recognize this architecture"),
        remedy="set a newer spec.engineOptions.version, or another engine",
    ),
    LogPattern(
        cause="a file of weights is a pointer of Git LFS",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(r"deserializing header: (HeaderTooLarge|header too large)"),
        remedy="fetch the files themselves (git lfs pull) and copy them to the volume",
    ),
    LogPattern(
        cause="a file of weights is damaged or cut off",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(
            r"SafetensorError: |Error while deserializing header|Consistency check failed: |PytorchStreamReader failed"
        ),
        remedy="copy it to the volume again; a download is repeated by deleting the pod",
    ),
    LogPattern(
        cause="a part of the weights is missing",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(r"No such file or directory: \S*-of-[0-9]+\.safetensors"),
        remedy="copy every part that model.safetensors.index.json names to the volume",
    ),
    LogPattern(
        cause="the weights are not those of the config's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(
            r"There is no module or parameter named|weights were not initialized from checkpoint|size mismatch for "
        ),
        remedy="set a newer spec.engineOptions.version, or a checkpoint whose config.json belongs to its weights",
    ),
    LogPattern(
        cause="the tokenizer is missing or of a kind that the engine cannot read",
        reason=Reason.TOKENIZER_UNUSABLE,
        pattern=compiled(
            r"Couldn't instantiate the backend tokenizer|Can't load tokenizer for |Unable to load (vocabulary"
            r"|tokenizer)"
            r"|Converting from SentencePiece and Tiktoken failed|does not exist or is not currently imported"
            r"|Failed to load the tokenizer"
        ),
        remedy="add tokenizer.json and tokenizer_config.json to the model, or set a newer spec.engineOptions.version",
    ),
    LogPattern(
        cause="a file of the model is missing",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"does not appear to have (a file named|files named)|EntryNotFoundError: 404"),
        remedy="spec.model.uri must name a repository or a folder with config.json, tokenizer and weights",
    ),
    LogPattern(
        cause="the image has no bitsandbytes",
        reason=Reason.PACKAGE_MISSING,
        pattern=compiled(r"requires bitsandbytes|[Ii]nstall bitsandbytes|No module named 'bitsandbytes'"),
        remedy="take an awq or online- quantization, or an image of your own with it (spec.engineOptions.image)",
    ),
    LogPattern(
        cause="the image has no compiler for C",
        reason=Reason.COMPILATION_FAILED,
        pattern=compiled(r"Failed to find C compiler|No working C\+\+ compiler found|InvalidCxxCompiler"),
        remedy="use the engine's own image, or add gcc to yours (spec.engineOptions.image)",
    ),
    NO_CUDA_COMPILER,
    LogPattern(
        cause="the image lacks a Python package that this model needs",
        reason=Reason.PACKAGE_MISSING,
        pattern=compiled(
            r"ModuleNotFoundError: No module named|ImportError: [^\n]*([Pp]lease install|[Ii]nstall it|pip install)"
            r"|requires the following packages that were not found|to be installed\. Please install"
        ),
        remedy="use an image of your own with it (spec.engineOptions.image), or another model",
    ),
    LogPattern(
        cause="a kernel needs more of the card than it has",
        reason=Reason.GPU_NOT_SUPPORTED,
        pattern=compiled(r"OutOfResources: |out of resource: shared memory"),
        remedy="set another spec.gpu.type, or a spec.engineOptions.version with kernels for it",
    ),
    NOT_COMPILED,
)
"""The most specific first: a missing compiler also fails the compilation."""
