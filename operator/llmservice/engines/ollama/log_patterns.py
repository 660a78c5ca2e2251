"""Lines of Ollama's log that show why a replica ended.

Those about fetching are what `ollama pull` and `ollama create` say (server/{images,download,auth,create}.go), those
about loading what `ollama run` says (server/sched.go, llm/server.go), each printed by `start_script.py` at the end.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.accelerator_log_patterns import ACCELERATOR_LOG_PATTERNS
from llmservice.engines.engine import LogPattern
from llmservice.engines.system_log_patterns import SYSTEM_LOG_PATTERNS
from llmservice.untrusted.patterns import compiled

_FETCHING = (
    LogPattern(
        cause="the model needs a newer version of Ollama",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"requires a newer version of Ollama|newer version of Ollama is required"),
        remedy="set a newer spec.engineOptions.version, or another model in spec.model.uri",
    ),
    LogPattern(
        cause="the registry has no such model or tag",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"pull model manifest: (file does not exist|404)"),
        remedy="correct spec.model.uri",
    ),
    LogPattern(
        cause="the registry denies access",
        reason=Reason.MODEL_ACCESS_DENIED,
        pattern=compiled(r"unauthorized: access denied|Error: [^\n]*: (401|403)(: |$)"),
        remedy=(
            "check spec.model.uri; for a private model mount the key of an account that may read it as "
            "/cache/.ollama/id_ed25519 with spec.engineOptions.files"
        ),
    ),
    LogPattern(
        cause="the registry throttles requests",
        reason=Reason.HUB_THROTTLED,
        pattern=compiled(r"Error: [^\n]*: 429(: |$)"),
        remedy="wait, name a registry of your own in spec.model.uri, or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
    LogPattern(
        cause="the certificate of the registry or a proxy is not trusted",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"Error: [^\n]*(x509: |tls: failed to verify certificate)"),
        remedy=(
            "mount the authority's certificate with spec.engineOptions.files, and name it in SSL_CERT_FILE in "
            "spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="the registry speaks no TLS",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"server gave HTTP response to HTTPS client"),
        remedy="name one with https in spec.model.uri, or keep the model on a claim (pvc://)",
    ),
    LogPattern(
        cause="the registry is failing",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(r"Error: [^\n]*: 5[0-9][0-9](: |$)"),
        remedy="wait, or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
    LogPattern(
        cause="what was fetched is not what the registry promised",
        reason=Reason.CHECKPOINT_DAMAGED,
        pattern=compiled(r"digest mismatch, file must be downloaded again"),
        remedy="wait: it is fetched again; if it goes on, push the model to the registry again",
        self_healing=True,
    ),
    LogPattern(
        cause="the registry cannot be reached",
        reason=Reason.HUB_UNREACHABLE,
        pattern=compiled(
            r"Error: [^\n]*(dial tcp|no such host|connection refused|connection reset|i/o timeout"
            r"|context deadline exceeded|unexpected EOF|max retries exceeded)"
        ),
        remedy="check network policy and proxy, or keep the model on a claim (pvc://)",
        self_healing=True,
    ),
)

_FILE = (
    LogPattern(
        cause="there is no such file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"sha256sum: [^\n]*: (No such file or directory|Is a directory)"),
        remedy="correct the path in spec.model.uri or spec.model.file, or copy the file to the volume",
    ),
    LogPattern(
        cause="the user of the pod may not read the model",
        reason=Reason.FILE_NOT_ACCESSIBLE,
        pattern=compiled(r"sha256sum: [^\n]*: Permission denied"),
        remedy="set spec.pod.securityContext.runAsUser, fsGroup or supplementalGroups",
    ),
    LogPattern(
        cause="the file is not a GGUF file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"supplied file was not in GGUF format|invalid file magic"),
        remedy="name one in spec.model.uri or spec.model.file",
    ),
)

_LOADING = (
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(
            r"unknown model architecture: |unsupported model architecture"
            r"|may be incompatible with your version of Ollama"
        ),
        remedy="set a newer spec.engineOptions.version, or another engine",
    ),
    LogPattern(
        cause="the model needs more memory than there is",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(
            r"model requires more system memory|memory layout cannot be allocated"
            r"|failed to (commit|allocate) memory for model"
        ),
        remedy=(
            "take a smaller quantization, lower spec.maxModelLen or spec.maxNumSeqs, raise spec.gpu.count, or raise "
            "spec.pod.resources.limits.memory"
        ),
    ),
    LogPattern(
        cause="the memory of the device is used up",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"cudaMalloc failed: out of memory|out of memory"),
        remedy="take a smaller quantization, lower spec.maxModelLen or spec.maxNumSeqs, or raise spec.gpu.count",
    ),
    LogPattern(
        cause="the port is in use",
        reason=Reason.PORT_IN_USE,
        pattern=compiled(r"bind: address already in use"),
        remedy="another container or process of the pod listens there: opt the pod out of the injected sidecar",
    ),
    LogPattern(
        cause="the process that computes has ended",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"Error: [^\n]*(llama runner process has terminated|model runner has unexpectedly stopped)"),
        remedy="set another spec.engineOptions.version, raise spec.pod.resources.limits.memory, or use another engine",
        uncertain=True,
    ),
)

OLLAMA_LOG_PATTERNS = (*SYSTEM_LOG_PATTERNS, *_FETCHING, *_FILE, *ACCELERATOR_LOG_PATTERNS, *_LOADING)
"""The most specific first."""
