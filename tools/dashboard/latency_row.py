"""A row of a service's board: how long its clients wait, against its objective."""

from tools.dashboard.fleet_rules import burn_rate
from tools.dashboard.panel import OF_SERVICES, SERVICE, Panel, Query, largest, recorded

_TTFT, _TPOT, _BETWEEN = "llmservice:ttft_seconds", "llmservice:tpot_seconds", "llmservice:inter_token_seconds"


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
