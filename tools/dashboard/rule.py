"""A recording rule before Prometheus' YAML."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """`expr` evaluated now and then, and stored under the name `record` with `labels`."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_rule(self) -> dict[str, Any]:
        """As Prometheus takes it."""
        labels = {"labels": dict(self.labels)} if self.labels else {}
        return {"record": self.record, "expr": self.expr, **labels}


def group(name: str, rules: Iterable[Rule], *, interval: str = "") -> dict[str, Any]:
    """Rules that are evaluated one after the other, every `interval` where that is not the Prometheus' own."""
    return {
        "name": name,
        **({"interval": interval} if interval else {}),
        "rules": [rule.as_rule() for rule in rules],
    }
