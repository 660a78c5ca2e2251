"""How a service does: what its clients see, what it holds, and why it has its number of replicas."""

from tools.dashboard.fleet_rules import burn_rate
from tools.dashboard.panel import (
    OF_SERVICES,
    RATE,
    SERVICE,
    Board,
    Panel,
    Query,
    condition,
    largest,
    recorded,
    replicas,
)

_TTFT, _TPOT, _BETWEEN = "llmservice:ttft_seconds", "llmservice:tpot_seconds", "llmservice:inter_token_seconds"
_REPLICA = "{{namespace}}/{{pod}}"


def _shares(histogram: str) -> tuple[Query, ...]:
    buckets = recorded(f"{histogram}_bucket:rate5m", "namespace, name, le")
    return tuple(
        Query(f"histogram_quantile({share}, {buckets})", f"{SERVICE} {name}")
        for share, name in ((0.5, "median"), (0.95, "95 %"), (0.99, "99 %"))
    )


def _objective(kind: str) -> Query:
    return Query(largest("llmservice_objective_seconds", f'objective="{kind}"'), f"{SERVICE} objective")


def _in_an_hour(name: str) -> str:
    return f"sum by (namespace, name, objective) (increase(llmservice_objective_{name}_total{{{OF_SERVICES}}}[1h]))"


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

LATENCY = (
    Panel(
        title="Time to first token",
        meaning="From the request to the first token of its answer, and the objective where one is set.",
        unit="s",
        queries=(*_shares(_TTFT), _objective("ttft")),
        width=12,
        roles=("ttft",),
    ),
    Panel(
        title="Time per output token",
        meaning="Of each answer the mean after its first token, and the objective where one is set.",
        unit="s",
        queries=(*_shares(_TPOT), _objective("tpot")),
        width=12,
        roles=("tpot",),
    ),
    Panel(
        title="Time between tokens",
        meaning="Mean over all running requests.",
        unit="s",
        queries=(Query(f"{recorded(f'{_BETWEEN}_sum:rate5m')} / {recorded(f'{_BETWEEN}_count:rate5m')}", SERVICE),),
        roles=("inter_token_latency",),
    ),
    Panel(
        title="Requests within the objective",
        meaning="Share of the last hour, of services that are scaled by latency the engine reports.",
        unit="percentunit",
        queries=(
            Query(f"1 - {_in_an_hour('violations')} / {_in_an_hour('requests')}", f"{SERVICE} {{{{objective}}}}"),
        ),
        roles=("ttft", "tpot"),
    ),
    Panel(
        title="Burn rate of the error budget",
        meaning="Over an hour; 1 uses up the budget of 5 % of requests just in its time. Alerts begin at 14.4.",
        unit="none",
        queries=(Query(recorded(burn_rate("1h"), "namespace, name, objective"), f"{SERVICE} {{{{objective}}}}"),),
        roles=("ttft", "tpot"),
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

REPLICAS = (
    Panel(
        title="Replicas: decided, advised, desired, ready",
        meaning="Decided: the autoscaler's last word. Advised: what mode Advise would run.",
        unit="none",
        queries=(
            Query(largest("llmservice_autoscale_desired_replicas"), f"{SERVICE} decided"),
            Query(largest("llmservice_autoscale_advised_replicas"), f"{SERVICE} advised"),
            Query(replicas("desired"), f"{SERVICE} desired"),
            Query(replicas("ready"), f"{SERVICE} ready"),
        ),
        width=12,
    ),
    Panel(
        title="Why that many",
        meaning="The reason of the last decision, over time; `llmservice explain` has the numbers behind it.",
        unit="none",
        queries=(
            Query(largest("llmservice_autoscale_reason", by="namespace, name, reason"), f"{SERVICE} {{{{reason}}}}"),
        ),
        kind="state-timeline",
        width=12,
    ),
    Panel(
        title="Load that is decided from",
        meaning="As the autoscaler read it: requests running and waiting.",
        unit="none",
        queries=(
            Query(largest("llmservice_requests_running"), f"{SERVICE} running"),
            Query(largest("llmservice_requests_waiting"), f"{SERVICE} waiting"),
        ),
    ),
    Panel(
        title="KV-cache use that is decided from",
        meaning="Mean of the replicas that report one.",
        unit="percentunit",
        queries=(Query(largest("llmservice_kv_cache_usage_ratio"), SERVICE),),
        roles=("kv_use",),
    ),
    Panel(
        title="Age of readings",
        meaning="The oldest reading that was decided from.",
        unit="s",
        queries=(Query(largest("llmservice_autoscale_reading_age_seconds"), SERVICE),),
    ),
    Panel(
        title="Decisions by reason",
        meaning="Decisions of the autoscaler; docs/reference/reasons.md says what each reason means.",
        unit="cps",
        queries=(
            Query(f"sum by (reason) (rate(llmservice_autoscale_decisions_total{{{OF_SERVICES}}}{RATE}))", "{{reason}}"),
        ),
        stacked=True,
    ),
    Panel(
        title="Failed readings by reason",
        meaning="Pods whose metrics could not be read.",
        unit="cps",
        queries=(
            Query(
                f"sum by (reason) (rate(llmservice_autoscale_read_failures_total{{{OF_SERVICES}}}{RATE}))",
                "{{reason}}",
            ),
        ),
    ),
    Panel(
        title="Length of a round",
        meaning="Reading, deciding and acting for all services.",
        unit="s",
        queries=(
            Query(
                f"histogram_quantile(0.99, sum by (le) (rate(llmservice_autoscale_duration_seconds_bucket{RATE})))",
                "99 %",
            ),
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
