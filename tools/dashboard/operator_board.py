"""How the operator does: its passes, its queue, what it asks of the API server, and what it hears from it."""

from tools.dashboard.panel import RATE, Board, Panel, Query, quantiles

PASSES = (
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
        queries=quantiles("controller_runtime_reconcile_time_seconds"),
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
        queries=quantiles("workqueue_queue_duration_seconds"),
    ),
    Panel(
        title="Failed passes",
        meaning="Passes that ended with an error, and those that ended so by a defect of the operator.",
        unit="ops",
        queries=(
            Query(f"sum(rate(controller_runtime_reconcile_errors_total{RATE}))", "failed"),
            Query(f"sum(rate(controller_runtime_reconcile_panics_total{RATE}))", "by a defect"),
        ),
    ),
)

API_SERVER = (
    Panel(
        title="Requests to the API server",
        meaning="By method and status code.",
        unit="reqps",
        queries=(Query(f"sum by (method, code) (rate(rest_client_requests_total{RATE}))", "{{method}} {{code}}"),),
        stacked=True,
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
        title="Dropped Events",
        meaning="Not written because a resource or a namespace had too many.",
        unit="cps",
        queries=(Query(f"sum(rate(llmservice_events_dropped_total{RATE}))", "dropped"),),
    ),
)

PROCESS = (
    Panel(
        title="Leader",
        meaning="1 for the replica that writes.",
        unit="none",
        queries=(Query("max by (instance) (leader_election_master_status)", "{{instance}}"),),
    ),
    Panel(
        title="Event-loop lag",
        meaning="How late the operator's loop is, by replica.",
        unit="s",
        queries=(Query("max by (instance) (llmservice_event_loop_lag_seconds)", "{{instance}}"),),
    ),
    Panel(
        title="Broken catalogue",
        meaning="1 while the administrator's rows are broken and the last good ones are used.",
        unit="none",
        queries=(Query("max(llmservice_catalogue_problem)", "broken"),),
    ),
    Panel(
        title="Memory",
        meaning="Resident memory of each replica.",
        unit="bytes",
        queries=(Query("max by (instance) (process_resident_memory_bytes)", "{{instance}}"),),
    ),
    Panel(
        title="CPU",
        meaning="Cores used by each replica.",
        unit="none",
        queries=(Query(f"max by (instance) (rate(process_cpu_seconds_total{RATE}))", "{{instance}}"),),
    ),
)

BOARD = Board(
    uid="llmservice-operator",
    title="LLMService: the operator",
    meaning="Whether the operator keeps up: its passes, its queue, the API server, its watches.",
    rows={"Passes": PASSES, "API server": API_SERVER, "Process": PROCESS},
)
