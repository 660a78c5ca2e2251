"""What it wrote when it exited, and when it did not.

Seen: printed by the program that starts it, v0.17.4, in `tests/engines/ollama`.
"""

from tests.unit.engines.line import Line

OLLAMA = ("ollama",)
_SEEN = "seen, v0.17.4"

LINES = (
    Line(
        OLLAMA,
        "Error: pull model manifest: file does not exist\nllmservice: cannot fetch 127.0.0.1:5000/tiny/other:1b",
        "ModelNotFound",
        "spec.model.uri",
        _SEEN,
    ),
    Line(
        OLLAMA,
        "Error: pull model manifest: 412: \n\nThe model you are attempting to pull requires a newer version of Ollama.",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "github.com/ollama/ollama/issues/14876",
    ),
    Line(
        OLLAMA,
        "Error: pull model manifest: 403: forbidden",
        "ModelAccessDenied",
        "id_ed25519",
        _SEEN,
    ),
    Line(
        OLLAMA,
        "Error: pull model manifest: unauthorized: access denied",
        "ModelAccessDenied",
        "spec.engineOptions.files",
        "server/images.go, errUnauthorized",
    ),
    Line(
        OLLAMA,
        "Error: pull model manifest: 429: too many requests",
        "HubThrottled",
        "pvc://",
        _SEEN,
    ),
    Line(
        OLLAMA,
        'Error: pull model manifest: Get "https://127.0.0.1:5000/v2/tiny/llama/manifests/1b": tls: failed to verify '
        "certificate: x509: certificate signed by unknown authority",
        "HubUnreachable",
        "SSL_CERT_FILE",
        _SEEN,
    ),
    Line(
        OLLAMA,
        'Error: pull model manifest: Get "https://registry:5000/v2/a/b/manifests/1": http: server gave HTTP response '
        "to HTTPS client",
        "HubUnreachable",
        "https",
        "Go, net/http",
    ),
    Line(OLLAMA, "Error: pull model manifest: 503: try again", "HubUnreachable", "wait", _SEEN),
    Line(
        OLLAMA,
        'Error: pull model manifest: Get "https://registry.ollama.ai/v2/library/llama/manifests/1b": dial tcp: lookup '
        "registry.ollama.ai on 10.255.255.53:53: no such host",
        "HubUnreachable",
        "network policy",
        _SEEN,
    ),
    Line(
        OLLAMA,
        "Error: digest mismatch, file must be downloaded again: want sha256:4259d14a, got sha256:e3b0c442",
        "CheckpointDamaged",
        "push the model",
        _SEEN,
    ),
    Line(
        OLLAMA,
        "Error: max retries exceeded: write /cache/ollama/blobs/sha256-4259-partial: no space left on device",
        "DiskFull",
        "ephemeral-storage",
        "server/download.go",
    ),
    Line(
        OLLAMA,
        "sha256sum: /models/missing.gguf: No such file or directory\nllmservice: cannot fetch /models/missing.gguf",
        "ModelNotFound",
        "spec.model.file",
        _SEEN,
    ),
    Line(OLLAMA, "sha256sum: /models/chat.gguf: Permission denied", "FileNotAccessible", "fsGroup", "coreutils 9.4"),
    Line(OLLAMA, "Error: supplied file was not in GGUF format", "ModelNotFound", "spec.model.uri", _SEEN),
    Line(
        OLLAMA,
        "Error: 500 Internal Server Error: unable to load model: /cache/ollama/blobs/sha256-4259: this model may be "
        "incompatible with your version of Ollama. If you previously pulled this model, try updating it by running "
        "`ollama pull chat`",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "server/sched.go",
    ),
    Line(
        OLLAMA,
        "Error: 500 Internal Server Error: model requires more system memory (43.0 GiB) than is available (12.1 GiB)",
        "OutOfMemory",
        "limits.memory",
        "llm/server.go",
    ),
    Line(
        OLLAMA,
        "Error: 500 Internal Server Error: llama runner process has terminated: cudaMalloc failed: out of memory",
        "OutOfMemory",
        "spec.gpu.count",
        "llm/status.go",
    ),
    Line(
        OLLAMA,
        "Error: listen tcp 127.0.0.1:11434: bind: address already in use",
        "PortInUse",
        "sidecar",
        "Go, net.Listen",
    ),
    Line(
        OLLAMA,
        "Error: 500 Internal Server Error: llama runner process has terminated: exit status 2",
        "EngineCrashed",
        "spec.engineOptions.version",
        "llm/server.go",
    ),
)

GOOD_START = (
    'level=INFO source=routes.go:1718 msg="Listening on 127.0.0.1:11434 (version 0.17.4)"\n'
    '[GIN] 2026/11/22 - 17:25:33 | 404 |     193.135µs |       127.0.0.1 | POST     "/api/show"\n'
    "llmservice: fetching tinyllama:1.1b\n"
    'level=INFO source=download.go:179 msg="downloading 4259d14a75b7 in 1 464 KB part(s)"\n'
    "llmservice: fetched\n"
    "llmservice: loading\n"
    'time=2026-11-22T17:25:34.100Z level=INFO source=server.go:1388 msg="llama runner started in 0.28 seconds"\n'
    "llmservice: serving chat\n"
)
"""A start that worked: no line of it is a cause."""
