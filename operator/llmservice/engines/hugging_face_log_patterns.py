"""What engines built on huggingface_hub, transformers and PyTorch say when the hub or a checkpoint fails them.

Sources: huggingface_hub 2.4 (errors.py, utils/_http.py, file_download.py), transformers 5.23 (utils/hub.py,
tokenization_utils_base.py, dynamic_module_utils.py), safetensors 0.8, triton (runtime/build.py), flashinfer 0.7
(jit/cpp_ext.py). The older releases that engines ship write the same words, on `requests` instead of `httpx`.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

_CLAIM = "or keep the model on a claim (pvc://)"

HUB_LOG_PATTERNS = (
    LogPattern(
        cause="the model is gated",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"GatedRepoError: |[Cc]annot access gated repo|You are trying to access a gated repo"),
        remedy="accept the model's licence, and set spec.model.tokenSecretRef to a token that may read it",
    ),
    LogPattern(
        cause="the token is not valid",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"Invalid credentials in Authorization header|Invalid user token"),
        remedy="put a new token into the Secret of spec.model.tokenSecretRef",
    ),
    LogPattern(
        cause="the model has no such revision",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"RevisionNotFoundError: |is not a valid git identifier"),
        remedy="correct spec.model.revision",
    ),
    LogPattern(
        cause="the hub has no such model, or hides it",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"RepositoryNotFoundError: |is not a valid model identifier|HFValidationError: "),
        remedy="correct spec.model.uri; a private model needs spec.model.tokenSecretRef",
    ),
    LogPattern(
        cause="the proxy does not let the engine through",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"ProxyError|Tunnel connection failed|407 Proxy Authentication"),
        remedy="correct HTTPS_PROXY and NO_PROXY in spec.engineOptions.env",
    ),
    LogPattern(
        cause="the hub denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"(401|403) (Client Error|Forbidden)|error '(401|403) "),
        remedy="set spec.model.tokenSecretRef to a token that may read the model",
    ),
    LogPattern(
        cause="the hub throttles requests",
        reason=Reason.HUB_THROTTLED,
        pattern=compiled(r"429 (Client Error|Too Many Requests)|hit the rate limit"),
        remedy=f"set spec.model.tokenSecretRef (the limit is higher with a token) and wait, {_CLAIM}",
    ),
    LogPattern(
        cause="the hub is failing",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"50[0234] Server Error|Server error '50[0234] "),
        remedy=f"wait (status.huggingface.co), {_CLAIM}",
    ),
    LogPattern(
        cause="the certificate of the hub, a mirror or a proxy is not trusted",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|SSLCertVerificationError"),
        remedy=(
            "mount the authority's certificate with spec.engineOptions.files, and name it in SSL_CERT_FILE and "
            "REQUESTS_CA_BUNDLE in spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="the hub's name has no address",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(
            r"name resolution|Name or service not known|NameResolutionError|No address associated with hostname"
        ),
        remedy=f"let the pod reach the cluster's DNS (a NetworkPolicy may stop it), correct HF_ENDPOINT, {_CLAIM}",
    ),
    LogPattern(
        cause="the engine is told not to ask the hub, and the model is not on its disk",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"outgoing traffic has been disabled|offline mode is enabled"),
        remedy=f"leave out HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE in spec.engineOptions.env, {_CLAIM}",
    ),
    LogPattern(
        cause="the address of HF_ENDPOINT is no hub",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"Distant resource does(n't| not) (seem to be|have)"),
        remedy="correct HF_ENDPOINT in spec.engineOptions.env, or the mirror behind it",
    ),
    LogPattern(
        cause="the hub cannot be reached",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(
            r"ConnectTimeout| timed out\. \(connect timeout=|ReadTimeout|Max retries exceeded|ConnectError: "
            r"|LocalEntryNotFoundError: |[Cc]ouldn't connect to 'https?://|Network is unreachable"
        ),
        remedy=f"let the pod reach it (a NetworkPolicy, HTTPS_PROXY in spec.engineOptions.env), {_CLAIM}",
    ),
    LogPattern(
        cause="the bucket denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(
            r"Unable to locate credentials|NoCredentialsError|InvalidAccessKeyId|SignatureDoesNotMatch"
            r"|\(AccessDenied\)|DefaultCredentialsError"
        ),
        remedy=(
            "give the bucket's credentials in spec.engineOptions.env, or a spec.pod.serviceAccountName that has them"
        ),
    ),
)
"""Errors of the hub, the most specific first: without a token an unknown repository is answered with 401."""

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
    LogPattern(
        cause="the image has no compiler for CUDA",
        reason=Reason.COMPILATION_FAILED,
        pattern=compiled(r"Could not find nvcc|nvcc: not found|directory: 'nvcc'|/nvcc'$"),
        remedy=(
            "use an image with the CUDA toolkit (spec.engineOptions.image); with vllm, "
            "VLLM_USE_FLASHINFER_SAMPLER=0 in "
            "spec.engineOptions.env avoids it"
        ),
    ),
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
    LogPattern(
        cause="the model could not be compiled",
        reason=Reason.COMPILATION_FAILED,
        pattern=compiled(
            r"BackendCompilerFailed|torch\._inductor\.exc\.|Internal Triton PTX codegen error|ptxas fatal"
            r"|Ninja build failed|ninja: build stopped"
        ),
        remedy=(
            "set another spec.engineOptions.version; with vllm, --enforce-eager in spec.engineOptions.args avoids it"
        ),
    ),
)
"""The most specific first: a missing compiler also fails the compilation."""
