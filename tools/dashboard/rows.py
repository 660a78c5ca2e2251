"""The rows of the dashboard and what stands in them."""

from collections.abc import Mapping

from tools.dashboard.panel import OF_SERVICES, RATE, Panel, Query, largest

_SERVICE = "{{namespace}}/{{name}}"
_STARTS, _PHASES = "llmservice_startup_phase_seconds", '{phase!="total"}'


def _condition(kind: str) -> str:
    return largest("llmservice_condition", f'type="{kind}"', 'status="True"')


def _replicas(kind: str) -> str:
    return largest("llmservice_replicas", f'kind="{kind}"')


def _quantiles(metric: str) -> tuple[Query, ...]:
    return tuple(
        Query(f"histogram_quantile({quantile}, sum by (le) (rate({metric}_bucket{RATE})))", name)
        for quantile, name in ((0.5, "median"), (0.99, "99 %"))
    )


OVERVIEW = (
    Panel(
        title="Services",
        meaning="LLMServices that the operator sees.",
        unit="none",
        queries=(Query(f"count({largest('llmservice_info')})"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Available",
        meaning="Those with at least one endpoint.",
        unit="none",
        queries=(Query(f"sum({_condition('Available')}) or vector(0)"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Stalled",
        meaning="Those that wait for an edit.",
        unit="none",
        queries=(Query(f"sum({_condition('Stalled')}) or vector(0)"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Ready and desired replicas",
        meaning="Of all chosen services.",
        unit="none",
        queries=(Query(f"sum({_replicas('desired')})", "desired"), Query(f"sum({_replicas('ready')})", "ready")),
        width=12,
    ),
    Panel(
        title="Conditions",
        meaning="The status of every condition now.",
        unit="none",
        queries=(Query(f"{largest('llmservice_condition', by='namespace, name, type, status')} == 1"),),
        kind="table",
        width=12,
    ),
    Panel(
        title="What they serve",
        meaning="Engine, model and accelerator of each service.",
        unit="none",
        queries=(Query(largest("llmservice_info", by="namespace, name, engine, model, accelerator")),),
        kind="table",
        width=12,
    ),
    Panel(
        title="Starts by phase",
        meaning="Mean length of each phase of the starts of the last hour, all services of an engine together.",
        unit="s",
        queries=(
            Query(
                f"sum by (engine, phase) (rate({_STARTS}_sum{_PHASES}[1h]))"
                f" / sum by (engine, phase) (rate({_STARTS}_count{_PHASES}[1h]))",
                "{{engine}} {{phase}}",
            ),
        ),
        width=12,
    ),
)

AUTOSCALING = (
    Panel(
        title="Replicas: decided, advised, ready",
        meaning="Decided: the autoscaler's last word. Advised: what mode Advise would run.",
        unit="none",
        queries=(
            Query(largest("llmservice_autoscale_desired_replicas"), f"{_SERVICE} decided"),
            Query(largest("llmservice_autoscale_advised_replicas"), f"{_SERVICE} advised"),
            Query(_replicas("ready"), f"{_SERVICE} ready"),
        ),
    ),
    Panel(
        title="Waiting requests",
        meaning="Requests waiting in the engines.",
        unit="none",
        queries=(Query(largest("llmservice_requests_waiting"), _SERVICE),),
    ),
    Panel(
        title="Running requests",
        meaning="Requests being worked on in the engines.",
        unit="none",
        queries=(Query(largest("llmservice_requests_running"), _SERVICE),),
    ),
    Panel(
        title="KV-cache use",
        meaning="Mean of the replicas that report one.",
        unit="percentunit",
        queries=(Query(largest("llmservice_kv_cache_usage_ratio"), _SERVICE),),
    ),
    Panel(
        title="Engines that hang",
        meaning="Found by the watch over engines in an hour, and replicas restarted for it: docs/how-to/stalls.md.",
        unit="none",
        queries=(
            Query(f"sum(increase(llmservice_engine_stalls_total{{{OF_SERVICES}}}[1h]))", "found"),
            Query(f"sum(increase(llmservice_engine_restarts_total{{{OF_SERVICES}}}[1h]))", "restarted"),
        ),
    ),
    Panel(
        title="Age of readings",
        meaning="The oldest reading that was decided from.",
        unit="s",
        queries=(Query(largest("llmservice_autoscale_reading_age_seconds"), _SERVICE),),
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
        title="Requests cut",
        meaning="Requests of the last hour that ended with their engine: a crash, a kill, a drain too short.",
        unit="none",
        queries=(
            Query(
                f"sum by (namespace, name) (increase(llmservice_requests_truncated_total{{{OF_SERVICES}}}[1h]))",
                _SERVICE,
            ),
        ),
    ),
    Panel(
        title="Length of a round",
        meaning="Reading, deciding and acting for all services.",
        unit="s",
        queries=_quantiles("llmservice_autoscale_duration_seconds"),
    ),
)

OPERATOR = (
    Panel(
        title="Passes by result",
        meaning="Reconciliations of one resource: observe, plan, apply, report.",
        unit="ops",
        queries=(Query(f"sum by (result) (rate(controller_runtime_reconcile_total{RATE}))", "{{result}}"),),
        stacked=True,
    ),
    Panel(
        title="Length of a pass",
        meaning="Waits for the API server included.",
        unit="s",
        queries=_quantiles("controller_runtime_reconcile_time_seconds"),
    ),
    Panel(
        title="Work queue",
        meaning="Resources that wait for a worker, and passes under way.",
        unit="none",
        queries=(
            Query("sum(workqueue_depth)", "waiting"),
            Query("sum(controller_runtime_active_workers)", "under way"),
        ),
    ),
    Panel(
        title="Wait in the queue",
        meaning="From a change to its pass.",
        unit="s",
        queries=_quantiles("workqueue_queue_duration_seconds"),
    ),
    Panel(
        title="Requests to the API server",
        meaning="By method and status code.",
        unit="reqps",
        queries=(Query(f"sum by (method, code) (rate(rest_client_requests_total{RATE}))", "{{method}} {{code}}"),),
        stacked=True,
    ),
    Panel(
        title="Dropped Events",
        meaning="Not written because a resource or a namespace had too many.",
        unit="cps",
        queries=(Query(f"sum(rate(llmservice_events_dropped_total{RATE}))", "dropped"),),
    ),
    Panel(
        title="Event-loop lag",
        meaning="How late the operator's loop is, by replica.",
        unit="s",
        queries=(Query("max by (instance) (llmservice_event_loop_lag_seconds)", "{{instance}}"),),
    ),
    Panel(
        title="Silence of watches",
        meaning="Time since the last list, event or bookmark; a live watch hears one every minute.",
        unit="s",
        queries=(Query("time() - max by (resource) (llmservice_watch_last_event_timestamp_seconds)", "{{resource}}"),),
    ),
    Panel(
        title="Ended watches",
        meaning="By kind and cause; some are normal.",
        unit="cps",
        queries=(
            Query(f"sum by (resource, cause) (rate(llmservice_watch_restarts_total{RATE}))", "{{resource}} {{cause}}"),
        ),
    ),
    Panel(
        title="Broken catalogue",
        meaning="1 while the administrator's rows are broken and the last good ones are used.",
        unit="none",
        queries=(Query("max(llmservice_catalogue_problem)", "broken"),),
    ),
    Panel(
        title="Leader",
        meaning="1 for the replica that writes.",
        unit="none",
        queries=(Query("max by (instance) (leader_election_master_status)", "{{instance}}"),),
    ),
)

ROWS: Mapping[str, tuple[Panel, ...]] = {
    "Overview": OVERVIEW,
    "Autoscaling": AUTOSCALING,
    "Operator": OPERATOR,
}
