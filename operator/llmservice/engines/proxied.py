"""What is read of an engine that measures nothing: the metrics of the proxy that stands before it.

HAProxy's own exporter; the names are the same in 2.6 and 3.2 (addons/promex/service-prometheus.c, README). `engine` is
the backend that holds the clients' requests and nothing else: probes and refusals have backends of their own.
"""

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.engine import Engine
from llmservice.engines.metric_names import MetricNames

ENGINE_BACKEND = "engine"
"""The backend of the clients' requests, and its one server."""
OVERLOADED_BACKEND = "overloaded"
"""The backend of the requests that are refused because too many wait."""

TOKEN_PATH = "/v1/completions"  # noqa: S105  (tokens of a model)
"""Where an engine that seems to hang is asked for one token."""
POD_UID_HEADER = "x-llmservice-pod"
"""With the UID of the pod, which clients do not know, that question needs no key."""

_NO_TOKENS = "tokens are not counted: load is known in requests only, and Learned uses requests per replica"
_NO_LATENCY = "no latency histograms: the objective cannot be checked, and Learned uses requests per replica"
_OF_ENGINE = f'{{proxy="{ENGINE_BACKEND}"}}'

PROXY_METRIC_NAMES = MetricNames(
    running=(f"haproxy_server_current_sessions{_OF_ENGINE}",),
    waiting=(f"haproxy_backend_current_queue{_OF_ENGINE}",),
    finished=(f"haproxy_backend_http_responses_total{_OF_ENGINE}",),
    rejected=(f'haproxy_backend_http_responses_total{{proxy="{OVERLOADED_BACKEND}"}}',),
    substitutes={
        "running": "requests that the proxy has passed on to the engine",
        "waiting": "requests that wait in the proxy",
        "finished": "requests that ended, those that clients gave up too",
        "kv_use": "no gauge of KV-cache usage: requests that run, of spec.maxNumSeqs, stand in for it; a KV-cache "
        "target cannot be used",
        "prompt_tokens": _NO_TOKENS,
        "generated_tokens": _NO_TOKENS,
        "ttft": _NO_LATENCY,
        "tpot": _NO_LATENCY,
        "inter_token_latency": _NO_LATENCY,
        "steps": "steps are not counted: an engine that hangs is known by its liveness probe alone",
        "slots": "spec.maxNumSeqs is the number of requests that the proxy passes on",
        "preemptions": "the engine does not tell",
    },
)
"""The metric names of every engine with `Capabilities.proxied`."""


def metric_names_of_engine(engine: Engine, version: EngineVersion) -> MetricNames:
    """The names of the metrics that its pods show: its own, or those of the proxy."""
    return PROXY_METRIC_NAMES if engine.capabilities.proxied else engine.metric_names(version)
