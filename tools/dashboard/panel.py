"""One panel of the dashboard, before Grafana's JSON."""

from dataclasses import dataclass
from typing import Literal

OF_SERVICES = 'namespace=~"$namespace", name=~"$service"'
"""The selector of the services chosen at the top of the dashboard."""

RATE = "[$__rate_interval]"
"""The range that Grafana fits to the scrape interval and the zoom."""


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression and the name of its lines; `{{label}}` in a name is the label's value."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """What is shown. `unit` is one of Grafana's (https://grafana.com/docs/grafana/latest/panels-visualizations/).

    `width` is of 24 columns. A table shows the labels of its one query.
    """

    title: str
    meaning: str
    unit: str
    queries: tuple[Query, ...]
    kind: Literal["stat", "table", "timeseries"] = "timeseries"
    width: int = 8
    stacked: bool = False


def largest(metric: str, *labels: str, by: str = "namespace, name") -> str:
    """The metric of the chosen services. Both replicas of the operator export it: the largest is the newest we know."""
    selectors = ", ".join((OF_SERVICES, *labels))
    return f"max by ({by}) ({metric}{{{selectors}}})"
