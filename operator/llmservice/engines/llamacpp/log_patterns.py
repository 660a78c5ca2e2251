"""Lines of llama.cpp's log that show why its server exited.

Seen from the program of build b11312, or read in its source (commit 0c1e570): src/llama-{model-loader,vocab,context,
kv-cache,adapter}.cpp, ggml/src/gguf.cpp, ggml/src/ggml-cuda/ggml-cuda.cu, common/{arg,chat,download,hf-cache}.cpp,
tools/mtmd, tools/server.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.llamacpp.file_log_patterns import LLAMACPP_FILE_LOG_PATTERNS
from llmservice.engines.system_log_patterns import SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_BESIDE_THE_MODEL = (
    LogPattern(
        cause="the file of the projector (mmproj) cannot be loaded",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"[Ff]ailed to load CLIP model|failed to load multimodal model"),
        remedy="name in spec.model.projector the projector of this very model, or remove it",
    ),
    LogPattern(
        cause="the draft model cannot be loaded",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"failed to load draft model"),
        remedy="name in spec.model.draft a GGUF file with the same vocabulary, or remove it",
    ),
    LogPattern(
        cause="the adapter cannot be loaded or does not belong to this model",
        reason=Reason.ADAPTER_REJECTED,
        pattern=compiled(r"failed to (load|apply) lora adapter"),
        remedy="name in spec.adapters a GGUF file that was made for this very model",
    ),
    LogPattern(
        cause="the chat template cannot be used",
        reason=Reason.CHAT_TEMPLATE_INVALID,
        pattern=compiled(r"chat template is not supported|failed to initialize chat template"),
        remedy="correct the file behind --chat-template-file, or leave it out to use the model's own",
    ),
)

_MEMORY = (
    LogPattern(
        cause="the KV cache has no room for so many requests of full length",
        reason=Reason.KV_CACHE_TOO_SMALL,
        pattern=compiled(r"failed to allocate buffer for kv cache"),
        remedy="lower spec.maxModelLen or spec.maxNumSeqs, or set spec.kvCacheDtype: q8_0",
        remedy_in_numbers=(
            "set spec.maxModelLen to {largest} or less, lower spec.maxNumSeqs, or set spec.kvCacheDtype: q8_0"
        ),
    ),
    LogPattern(
        cause="a quantized KV cache needs flash attention",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"quantized V cache (was requested|requires)|with block size [0-9]+ does not divide"),
        remedy="omit spec.kvCacheDtype, or leave --flash-attn off out of spec.engineOptions.args",
    ),
)

_HUB = (
    LogPattern(
        cause="the hub denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"GET failed \((401|403)\)"),
        remedy=(
            "check spec.model.uri; a private or gated model needs spec.model.tokenSecretRef with a token that "
            "may read it"
        ),
    ),
    LogPattern(
        cause="the hub has no such model",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"GET failed \(404\)"),
        remedy="correct spec.model.uri",
    ),
    LogPattern(
        cause="the repository has no file of this quantization",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"no GGUF files found in repository"),
        remedy="set spec.quantization or spec.model.file; the log lists what there is",
    ),
    LogPattern(
        cause="the repository has no such file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"' not found in repository"),
        remedy="correct spec.model.file; the log lists the files",
    ),
    LogPattern(
        cause="the hub throttles requests",
        reason=Reason.HUB_THROTTLED,
        pattern=compiled(r"GET failed \(429\)"),
        remedy="wait, set spec.model.tokenSecretRef, or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
    LogPattern(
        cause="the hub is failing",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"GET failed \(\d+\)"),
        remedy="wait (status.huggingface.co), or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
    LogPattern(
        cause="the engine was built without HTTPS",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"HTTPS is not supported\. Please rebuild"),
        remedy="use the engine's own image, or keep the model on a claim (pvc://)",
    ),
    LogPattern(
        cause="the certificate of the hub, a mirror or a proxy is not trusted",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"HTTPLIB failed: SSL"),
        remedy=(
            "mount the authority's certificate with spec.engineOptions.files, and name it in SSL_CERT_FILE in "
            "spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="the hub cannot be reached",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"HTTPLIB failed: |download failed after \d+ attempts"),
        remedy="check network policy and proxy, or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
    LogPattern(
        cause="the download cannot be written",
        reason=Reason.DISK_FULL,
        pattern=compiled(r"error (writing to|closing) file: "),
        remedy="raise spec.pod.resources.requests.ephemeral-storage, or keep the model on a claim (pvc://)",
    ),
)

_LAST = (
    LogPattern(
        cause="an argument is not accepted",
        reason=Reason.ENGINE_ARGUMENT_REJECTED,
        pattern=compiled(r"error(: invalid| while handling) argument"),
        remedy="correct spec.engineOptions.args",
    ),
    LogPattern(
        cause="memory is used up",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"out of memory|unable to allocate |failed to allocate (compute|buffer)"),
        remedy="take a smaller spec.quantization, lower spec.maxModelLen or spec.maxNumSeqs, or raise spec.gpu.count",
    ),
)

LLAMACPP_LOG_PATTERNS = (
    *SYSTEM_LOG_PATTERNS,
    *_BESIDE_THE_MODEL,
    *_MEMORY,
    *LLAMACPP_FILE_LOG_PATTERNS,
    *_HUB,
    *ACCELERATOR_LOG_PATTERNS,
    *_LAST,
)
"""The most specific first: what is beside the model ends in the words for a missing file."""
