"""The cluster, the operator and a namespace, as for the other tests on a real cluster."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import box, cluster, kube, models, operator
from tests.cluster.operator_process import Operator
from tests.cluster.test_prometheus_source import MetricsServer, server

__all__ = ["box", "cluster", "kube", "models", "operator", "server"]


@pytest.fixture
def prometheus(server: MetricsServer, operator: Operator) -> Iterator[MetricsServer]:
    """A real Prometheus, and the operator told where it is."""
    with operator.told(LLMSERVICE_PROMETHEUS_URL=server.url):
        yield server


@pytest.fixture
def results() -> Path:
    """Where timelines are kept: `python -m benchmarks.load_plot` draws them."""
    return Path(__file__).parents[2] / "build" / "load"
