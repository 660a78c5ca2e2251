"""One panel of a board, before Grafana's JSON."""

from dataclasses import dataclass
from typing import Literal

from tools.dashboard.measured import stand_ins, unmeasured_by

OF_SERVICES = 'namespace=~"$namespace", name=~"$service"'
"""The selector of the services chosen at the top of the board."""

RATE = "[$__rate_interval]"
"""The range that Grafana fits to the scrape interval and the zoom."""

SERVICE = "{{namespace}}/{{name}}"
"""The name of a line that belongs to one service."""


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression and the name of its lines; `{{label}}` in a name is the label's value."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """What is shown. `unit` is one of Grafana's (https://grafana.com/docs/grafana/latest/panels-visualizations/).

    `width` is of 24 columns. A table shows the labels of its one query, and its value under the name `value`. `roles`
    are what has to be measured by the engines: the panel says which of them do not.
    """

    title: str
    meaning: str
    unit: str
    queries: tuple[Query, ...]
    kind: Literal["stat", "state-timeline", "table", "timeseries"] = "timeseries"
    width: int = 8
    stacked: bool = False
    value: str = ""
    roles: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What it means, and of which engines it has nothing or something else."""
        without = dict.fromkeys(engine for role in self.roles for engine in unmeasured_by(role))
        others = {engine: text for role in self.roles for engine, text in stand_ins(role).items()}
        sentences = [self.meaning]
        sentences += [f"Not measured by: {'; '.join(without)}."] if without else []
        sentences += [f"{engine}: {text}." for engine, text in others.items()]
        return " ".join(sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A dashboard: `uid` is its name in links, `variables` those of `grafana.py` beside the data source."""

    uid: str
    title: str
    meaning: str
    rows: dict[str, tuple[Panel, ...]]
    variables: tuple[str, ...] = ()


def largest(metric: str, *labels: str, by: str = "namespace, name") -> str:
    """The metric of the chosen services. Both replicas of the operator export it: the largest is the newest we know."""
    selectors = ", ".join((OF_SERVICES, *labels))
    return f"max by ({by}) ({metric}{{{selectors}}})"


def recorded(record: str, by: str = "namespace, name") -> str:
    """A recorded figure of the chosen services, added up over what is not in `by`."""
    return f"sum by ({by}) ({record}{{{OF_SERVICES}}})"


def condition(kind: str) -> str:
    """1 for each chosen service of which a condition is True."""
    return largest("llmservice_condition", f'type="{kind}"', 'status="True"')


def replicas(kind: str) -> str:
    """Replicas of a kind of each chosen service."""
    return largest("llmservice_replicas", f'kind="{kind}"')


def quantiles(metric: str) -> tuple[Query, ...]:
    """Median and 99 % of a histogram of the operator."""
    return tuple(
        Query(f"histogram_quantile({quantile}, sum by (le) (rate({metric}_bucket{RATE})))", name)
        for quantile, name in ((0.5, "median"), (0.99, "99 %"))
    )
