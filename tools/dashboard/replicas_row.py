"""A row of a service's board: why it has its number of replicas."""

from tools.dashboard.panel import OF_SERVICES, RATE, SERVICE, Panel, Query, largest, replicas

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
