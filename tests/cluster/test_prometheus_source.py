"""Prometheus as the source in a real cluster: it says of real pods what the pods say.

Debian builds its Prometheus without the discovery for Kubernetes. What that would find, this test writes for it under
the same names, so that the relabelings are those an administrator needs.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.engines.registry import ENGINES
from llmservice.signals.pod_scrape import pods
from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.source import Target
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, ask
from tests.contracts.metrics_server import metrics_server

# The host reaches the sandbox's pods; a Prometheus beside another cluster might not.
pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

Readings = dict[Target, Reading | ReadFailure]


RELABELINGS = [
    {"source_labels": ["__meta_kubernetes_pod_label_app_kubernetes_io_managed_by"], "regex": "llmservice-operator"},
    {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
    {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"},
]
"""The first keeps only pods of LLMServices; the others say whose a sample is."""


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """A Prometheus and the file in which it reads which pods there are."""

    url: str
    found: Path

    def discover(self, kube: Kube) -> None:
        """Write down the pods that have an address, as the discovery for Kubernetes does."""
        pods = [pod for pod in kube.list("Pod") if pod["status"].get("podIP")]
        groups = [{"targets": [f"{pod['status']['podIP']}:8000"], "labels": _discovered(pod)} for pod in pods]
        whole = self.found.with_suffix(".new")
        whole.write_text(json.dumps(groups))
        whole.rename(self.found)


def _discovered(pod: Body) -> dict[str, str]:
    metadata = pod["metadata"]
    managed_by = metadata["labels"].get("app.kubernetes.io/managed-by", "")
    return {
        "__meta_kubernetes_namespace": metadata["namespace"],
        "__meta_kubernetes_pod_name": metadata["name"],
        "__meta_kubernetes_pod_label_app_kubernetes_io_managed_by": managed_by,
    }


@pytest.fixture
def server(kube: Kube, tmp_path: Path) -> Iterator[MetricsServer]:  # noqa: ARG001  (the cluster must be up)
    found = tmp_path / "pods.json"
    found.write_text("[]")
    keep, *rename = RELABELINGS
    job = {
        "file_sd_configs": [{"files": [str(found)], "refresh_interval": "1s"}],
        "relabel_configs": [{**keep, "action": "keep"}, *rename],
    }
    with metrics_server(tmp_path, [job]) as url:
        yield MetricsServer(url, found)


def targets_of(kube: Kube) -> list[Target]:
    readings = ENGINES["llamacpp"].metric_names(load_catalogue().engine_version("llamacpp", None))
    return [
        Target(
            namespace=kube.namespace,
            service="chat",
            pod=pod["metadata"]["name"],
            address=pod["status"]["podIP"],
            port=8000,
            metric_names=readings,
        )
        for pod in kube.list("Pod")
        if pod["status"].get("podIP") and not pod["metadata"].get("deletionTimestamp")
    ]


def by_prometheus(url: str, targets: list[Target]) -> Readings:
    with prometheus(PrometheusSettings(url=url)) as source:
        return asyncio.run(source.read(targets))


def by_pods(targets: list[Target]) -> Readings:
    async def read() -> Readings:
        async with pods() as source:
            return await source.read(targets)

    return asyncio.run(read())


def load_in(readings: Readings) -> list[tuple[float, ...] | str]:
    """Running, waiting, prompt tokens and generated tokens of each pod, or why they are not known."""
    return [
        (
            reading.counters.running,
            reading.counters.waiting,
            reading.counters.prompt_tokens,
            reading.counters.generated_tokens,
        )
        if isinstance(reading, Reading)
        else reading.message
        for reading in readings.values()
    ]


@pytest.mark.usefixtures("models")
def test_it_says_of_every_pod_what_the_pod_says(kube: Kube, server: MetricsServer) -> None:
    kube.create(a_tiny_service(replicas=2))
    kube.wait_ready("chat")
    server.discover(kube)
    tokens = sum(ask(kube, max_tokens=20)["usage"]["completion_tokens"] for _ in range(4))
    targets = targets_of(kube)
    told = load_in(by_pods(targets))
    assert sum(load[3] for load in told if isinstance(load, tuple)) == tokens > 0
    assert kube.wait(
        lambda: load_in(by_prometheus(server.url, targets)) == told or None,
        lambda: by_prometheus(server.url, targets),
    )


@pytest.mark.usefixtures("models")
@pytest.mark.slow
def test_a_pod_that_is_gone_is_unread_and_the_new_one_is_found(kube: Kube, server: MetricsServer) -> None:
    kube.create(a_tiny_service())
    kube.wait_ready("chat")
    server.discover(kube)
    gone = targets_of(kube)
    kube.wait(lambda: is_read(server, gone), lambda: by_prometheus(server.url, gone))
    kube.delete("Pod", gone[0].pod)
    kube.wait(lambda: is_replaced(kube, gone) or None, lambda: kube.list("Pod"))
    server.discover(kube)
    kube.wait(lambda: is_read(server, targets_of(kube)), lambda: by_prometheus(server.url, targets_of(kube)))
    (result,) = by_prometheus(server.url, gone).values()
    assert isinstance(result, ReadFailure)
    assert result.reason == "NotScraped"


def is_replaced(kube: Kube, gone: list[Target]) -> bool:
    """Whether the old pod has gone altogether and the new one has an address."""
    there = targets_of(kube)
    return len(kube.list("Pod")) == 1 and len(there) == 1 and there != gone


def is_read(server: MetricsServer, targets: list[Target]) -> bool | None:
    results = by_prometheus(server.url, targets)
    return True if all(isinstance(result, Reading) for result in results.values()) else None
