"""The recording rules as a PrometheusRule, and as a rule file of Prometheus."""

from typing import Any

import yaml

from tools.dashboard.engine_rules import engine_groups
from tools.dashboard.fleet_rules import fleet_groups

_MADE = "# Made by `make charts` from the catalogue's names of the engines' metrics: edit tools/dashboard/*_rules.py.\n"


def recording_rules() -> str:
    """As a rule file: the spec of the PrometheusRule."""
    return _MADE + _yaml({"groups": [*engine_groups(), *fleet_groups()]})


def recording_object() -> str:
    """As an object of the Prometheus operator."""
    body = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "llmservice-operator-records"},
        "spec": {"groups": [*engine_groups(), *fleet_groups()]},
    }
    return _MADE + _yaml(body)


def _yaml(body: Any) -> str:
    return yaml.safe_dump(body, sort_keys=False, width=1000)
