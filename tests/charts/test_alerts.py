"""The alerts: about series that the operator exports, each with a line on what to do."""

import re
from dataclasses import dataclass

import yaml
from prometheus_client import generate_latest

from llmservice.controllers.health import LoopPulse
from llmservice.controllers.metrics import Metrics
from llmservice.controllers.series import ProcessSeries, ServiceSeries
from tools.chart.copies import alerts

RULES = [rule for group in yaml.safe_load(alerts())["groups"] for rule in group["rules"]]


@dataclass
class Quiet:
    """Stands for what leads and what watches."""

    restarts: int = 0
    watching: bool = True

    def is_leader(self) -> bool:
        return False


def exported() -> set[str]:
    """The names in what Prometheus reads."""
    registry = Metrics().registry
    registry.register(ServiceSeries())
    registry.register(ProcessSeries(informers=(), kopf=Quiet(), loop=LoopPulse(), leadership=Quiet()))
    return set(re.findall(r"^# TYPE (\S+)", generate_latest(registry).decode(), re.MULTILINE))


def test_every_alert_asks_for_series_that_exist() -> None:
    asked = {
        rule["alert"]: set(re.findall(r"\b[a-z]+(?:_[a-z]+){2,}\b|\bllmservice_\w+", rule["expr"])) for rule in RULES
    }
    assert all(asked.values())
    assert {alert: names - exported() for alert, names in asked.items() if names - exported()} == {}


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    assert [rule["alert"] for rule in RULES if rule["annotations"].keys() != {"summary", "runbook"}] == []
    assert {rule["labels"]["severity"] for rule in RULES} == {"warning", "critical"}
