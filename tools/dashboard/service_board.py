"""How a service does: what its clients see, what it holds, and why it has its number of replicas."""

from tools.dashboard.latency_row import LATENCY
from tools.dashboard.panel import (
    OF_SERVICES,
    SERVICE,
    Board,
    Panel,
    Query,
    condition,
    largest,
    recorded,
    replicas,
)
from tools.dashboard.replicas_row import REPLICAS

_REPLICA = "{{namespace}}/{{pod}}"


def _counted(metric: str, title: str) -> Query:
    return Query(f"sum by (namespace, name) (increase({metric}{{{OF_SERVICES}}}[1h]))", f"{SERVICE} {title}")


NOW = (
    Panel(
        title="Available",
        meaning="Services with at least one endpoint.",
        unit="none",
        queries=(Query(f"sum({condition('Available')}) or vector(0)"),),
        kind="stat",
        width=3,
    ),
    Panel(
        title="Ready replicas",
        meaning="Of all chosen services.",
        unit="none",
        queries=(Query(f"sum({replicas('ready')})"),),
        kind="stat",
        width=3,
    ),
    Panel(
        title="Why they are as they are",
        meaning="The reason of the condition Ready of each service; docs/reference/reasons.md says what to do.",
        unit="none",
        queries=(Query(largest("llmservice_ready_reason", by="namespace, name, status, reason")),),
        kind="table",
        width=9,
    ),
    Panel(
        title="What they serve",
        meaning="Engine, model and accelerator of each service.",
        unit="none",
        queries=(Query(largest("llmservice_info", by="namespace, name, engine, model, accelerator")),),
        kind="table",
        width=9,
    ),
)

LOAD = (
    Panel(
        title="Generated tokens",
        meaning="Tokens a second.",
        unit="none",
        queries=(Query(recorded("llmservice:generated_tokens:rate5m"), SERVICE),),
        roles=("generated_tokens",),
    ),
    Panel(
        title="Prompt tokens",
        meaning="Tokens a second, without those from a prefix cache where the engine tells them apart.",
        unit="none",
        queries=(Query(recorded("llmservice:prompt_tokens:rate5m"), SERVICE),),
        roles=("prompt_tokens",),
    ),
    Panel(
        title="Requests that end",
        meaning="Requests a second.",
        unit="reqps",
        queries=(Query(recorded("llmservice:requests_finished:rate5m"), SERVICE),),
        roles=("finished",),
    ),
    Panel(
        title="Running requests",
        meaning="Requests being worked on, by replica.",
        unit="none",
        queries=(Query(recorded("llmservice:requests_running", "namespace, pod"), _REPLICA),),
        roles=("running",),
    ),
    Panel(
        title="Waiting requests",
        meaning="Requests waiting in the engines, by replica.",
        unit="none",
        queries=(Query(recorded("llmservice:requests_waiting", "namespace, pod"), _REPLICA),),
        roles=("waiting",),
    ),
    Panel(
        title="KV-cache use",
        meaning="Share of each replica's KV cache.",
        unit="percentunit",
        queries=(Query(recorded("llmservice:kv_cache_usage", "namespace, pod"), _REPLICA),),
        roles=("kv_use",),
    ),
)

ERRORS = (
    Panel(
        title="Preemptions",
        meaning="Running requests a second that were put back into the queue because the KV cache was full.",
        unit="cps",
        queries=(Query(recorded("llmservice:preemptions:rate5m"), SERVICE),),
        roles=("preemptions",),
    ),
    Panel(
        title="Rejected requests",
        meaning="Requests a second that the engine, or the proxy before it, refused for lack of room.",
        unit="reqps",
        queries=(Query(recorded("llmservice:requests_rejected:rate5m"), SERVICE),),
        roles=("rejected",),
    ),
    Panel(
        title="Requests cut, engines that hang",
        meaning="In an hour: requests that ended with their engine, engines found hanging, replicas restarted for it.",
        unit="none",
        queries=(
            _counted("llmservice_requests_truncated_total", "cut"),
            _counted("llmservice_engine_stalls_total", "hung"),
            _counted("llmservice_engine_restarts_total", "restarted"),
        ),
    ),
)

BOARD = Board(
    uid="llmservice-service",
    title="LLMService: a service",
    meaning="What clients see of a service, what it holds, and why it has its number of replicas.",
    rows={"Now": NOW, "Latency": LATENCY, "Load": LOAD, "Errors": ERRORS, "Replicas": REPLICAS},
    variables=("namespace", "service"),
)
