"""Ollama: GGUF models of its registry, of the hub and from volumes, on CPU and GPU.

Read at v0.17.4 and v0.32.15: envconfig/config.go, server/{routes,images,sched,auth}.go, types/model/name.go,
cmd/cmd.go, Dockerfile. It has variables where others have options, reports no metrics and drops what runs when it is
stopped: a proxy before it bounds, queues, counts and drains. How a replica starts is in `start_script.py`.
"""

from llmservice.engines.draining import SETTLE_SECONDS, wait_for_proxy
from llmservice.engines.engine import Capabilities, HttpProbe, Launch, Probes, ServingRequest, Syntax
from llmservice.engines.memory_use import MemoryOptions, MemoryUse
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.ollama.log_patterns import OLLAMA_LOG_PATTERNS
from llmservice.engines.ollama.names import Name
from llmservice.engines.ollama.owned import OLLAMA_OWNED
from llmservice.engines.ollama.sources import SCHEME, model_source, served_names
from llmservice.engines.ollama.start_log import start_report, start_times
from llmservice.engines.ollama.start_script import START
from llmservice.engines.ollama.variables import CACHE, variables

_CLIENT_PATHS = (
    *("/", "/v1/*", "/api/generate", "/api/chat", "/api/embed", "/api/embeddings"),
    *("/api/show", "/api/tags", "/api/ps", "/api/version"),
)
"""What asks and what looks (server/routes.go). The rest changes the server's models, or shows its memory (pprof)."""

_MEMORY = MemoryUse(
    variants=frozenset({"cuda", "rocm"}),
    utilization=1.0,
    step_tokens=512,
    divides_heads=False,
    reserves_requests=True,
    output_buffer=True,
    # What the scheduler leaves free on each device beside its estimate (ml/device.go, MinimumMemory).
    spread_gib=0.5,
    small_kv_dtype="q8_0",
    small_kv_in_hardware=False,
    quantizations=("Q4_K_M", "Q8_0", "F16"),
    options=MemoryOptions(relieving=frozenset({"OLLAMA_LLM_LIBRARY", "GGML_VK_VISIBLE_DEVICES"})),
)


class Ollama:
    """`ollama serve`, as in its official images, with one model."""

    name = "ollama"
    capabilities = Capabilities(
        schemes=frozenset({SCHEME, "hf", "pvc", "oci"}),
        proxied=True,
        client_paths=_CLIENT_PATHS,
        gguf=True,
        hub_token=False,
        syntax=Syntax(variables="OLLAMA_"),
        memory=_MEMORY,
    )
    owned = OLLAMA_OWNED
    flags: frozenset[str] = frozenset()
    log_patterns = OLLAMA_LOG_PATTERNS
    start_report = staticmethod(start_report)
    start_times = staticmethod(start_times)

    def metric_names(self, _version: object) -> MetricNames:
        """None of its own: planning takes the proxy's."""
        return MetricNames()

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field."""
        names = served_names(request.names)
        (how, source), defaults, notes = model_source(request)
        return Launch(
            command=("/bin/sh", "-c", START, self.name),
            args=(how, source, *request.names),
            probes=_probes(names[0]),
            environment=variables(request),
            writable_paths=(CACHE,),
            # SIGTERM ends running requests: the proxy takes no new ones, and those that it has are waited for.
            pre_stop=wait_for_proxy(request),
            pre_stop_seconds=SETTLE_SECONDS + request.drain_seconds,
            stop_seconds=10,
            defaults=defaults,
            notes=notes,
        )


ENGINE = Ollama()


def _probes(name: Name) -> Probes:
    """Ready when the model has its name, which it is given when it is loaded; alive as long as the server answers."""
    named = f'"name":"{name.shown}"'
    return Probes(
        startup=HttpProbe(path="/api/tags", period_seconds=2, timeout_seconds=5, failures=1, expects=named),
        readiness=HttpProbe(path="/api/tags", period_seconds=5, timeout_seconds=15, failures=3, expects=named),
        liveness=HttpProbe(path="/api/version", period_seconds=15, timeout_seconds=15, failures=10),
    )
