"""A real Prometheus with the rules as the chart installs them, and the pages of every engine, version and operator."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import yaml

from tests.boards.operator_page import NAMESPACE, a_service, operator_page
from tests.boards.pages import Played, growing, played
from tests.charts.rendering import chart, of_kind
from tests.contracts.metrics_server import metrics_server, static_targets
from tests.unit.signals.fake_engine import fake_engine
from tools.chart.copies import alerts

NODES = """\
kube_node_status_allocatable{node="a",resource="nvidia_com_gpu",unit="integer"} 8
kube_pod_container_resource_requests{namespace="ml",pod="chat-0",node="a",resource="nvidia_com_gpu",unit="integer"} 1
"""
"""Of kube-state-metrics: docs/metrics/cluster/node-metrics.md and docs/metrics/workload/pod-metrics.md there."""
QUIET = """\
llamacpp:requests_processing 0
llamacpp:requests_deferred 0
llmservice_device_price_per_hour{accelerator="L4",resource="nvidia.com/gpu",currency="EUR"} 1000
llmservice_devices{name="chat",accelerator="L4",resource="nvidia.com/gpu",kind="ready"} 99
"""
"""Of an engine without requests, in a pod that says what only the operator may say."""
_SETTLED = 'llmservice_device_price_per_hour and on () (count_over_time(llmservice:devices:idle{name="quiet"}[1m]) > 5)'


@dataclass(frozen=True, slots=True)
class Asked:
    """A Prometheus that has scraped every page often enough for rates."""

    url: str
    engines: tuple[Played, ...]

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The series of an instant query, with the variables of the boards filled in."""
        for variable, value in {"$__rate_interval": "1m", "$namespace": ".*", "$service": ".*"}.items():
            query = query.replace(variable, value)
        answer = requests.get(f"{self.url}/api/v1/query", params={"query": query}, timeout=10).json()
        assert answer["status"] == "success", answer
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def value(self, query: str) -> float | None:
        """The only value; None where there is none."""
        found = self.ask(query)
        assert len(found) <= 1, found
        return float(found[0]["value"][1]) if found else None

    def rules(self) -> list[Mapping[str, Any]]:
        """All rules as they were evaluated last."""
        groups = requests.get(f"{self.url}/api/v1/rules", timeout=10).json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    engines = tuple(played())
    services = [a_service(each.service, each.engine) for each in engines]
    services += [a_service("quiet", "llamacpp"), a_service("chat", "vllm")]
    services.append(a_service("waits", "vllm", ready=0, reason="InsufficientAccelerators", devices=4))
    with ExitStack() as stack:
        labels = {}
        for each in engines:
            server = stack.enter_context(fake_engine(growing(each.text)))
            labels[f"127.0.0.1:{server.port}"] = _labels(each.service)
        labels[f"127.0.0.1:{stack.enter_context(fake_engine(growing(QUIET))).port}"] = _labels("quiet")
        own = [stack.enter_context(fake_engine(growing(text))) for text in (operator_page(services), NODES)]
        jobs = [
            {**static_targets(labels), "metric_relabel_configs": _relabelings()},
            {"job_name": "own", "honor_labels": True, **static_targets({f"127.0.0.1:{one.port}": {} for one in own})},
        ]
        url = stack.enter_context(metrics_server(tmp_path_factory.mktemp("boards"), jobs, _groups()))
        asked = Asked(url, engines)
        _wait(asked)
        yield asked


def _labels(service: str) -> dict[str, str]:
    """As the PodMonitor gives them."""
    return {"namespace": NAMESPACE, "name": service, "pod": f"{service}-0"}


def _relabelings() -> list[dict[str, Any]]:
    """What the chart's PodMonitor lets through, in the words of Prometheus' own configuration."""
    (monitor,) = of_kind(chart({"monitoring": {"enginePodMonitor": {"enabled": True}}}), "PodMonitor")
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    return [
        {"source_labels": each["sourceLabels"], "regex": each["regex"], "action": each["action"]}
        for each in endpoint["metricRelabelings"]
    ]


def _groups() -> list[dict[str, Any]]:
    """Rules and alerts as the chart installs them, those that are evaluated rarely as often as the others."""
    values = {"monitoring": {"prometheusRule": {"enabled": True}}}
    rules = [body["spec"]["groups"] for body in of_kind(chart(values), "PrometheusRule")]
    assert yaml.safe_load(alerts())["groups"] in rules
    return [{key: value for key, value in group.items() if key != "interval"} for groups in rules for group in groups]


def _wait(asked: Asked) -> None:
    for _ in range(120):
        if asked.ask(_SETTLED):
            return
        time.sleep(0.5)
    raise AssertionError([rule for rule in asked.rules() if rule["health"] != "ok"])
