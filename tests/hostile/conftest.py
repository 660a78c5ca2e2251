"""The operator with its shipped rights in the memory of its pod, a played node, and tenants who mean harm."""

import contextlib
import functools
import json
import os
import secrets
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from llmservice.engines.engine import PORT
from sandbox import Sandbox
from tests.cluster.conftest import box, cluster, namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.service_account import kubeconfig_with_token
from tests.contracts.metrics_server import metrics_server
from tests.hostile import results
from tests.hostile.confined import SYSTEM, installed, memory_cgroup
from tests.hostile.engines import Engines, engines
from tests.hostile.neighbourhood import Neighbourhood
from tests.hostile.node import PlayedNode, played_node
from tests.hostile.results import Row
from tests.hostile.settings import HEALTH_PORT, METRICS_PORT, SEED
from tests.ports import free_port

ROWS = pytest.StashKey[dict[str, list[Row]]]()
__all__ = ["box", "cluster"]


@pytest.fixture(scope="session")
def tenants_engines() -> Iterator[Engines]:
    with engines(SEED) as process:
        yield process


@pytest.fixture(scope="session")
def node(
    cluster: Kube, box: Sandbox, tenants_engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlayedNode]:
    folder = tmp_path_factory.mktemp("kubelet")
    with played_node(cluster, tenants_engines, box.bridge_address, folder, SEED) as player:
        yield player


@pytest.fixture(scope="session")
def neighbourhood(
    cluster: Kube, node: PlayedNode, tenants_engines: Engines, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neighbourhood]:
    """At the end the operator still runs, and ends when it is asked to."""
    folder = tmp_path_factory.mktemp("operator")
    name = f"llmservice-hostile-{secrets.token_hex(3)}"
    fresh = functools.partial(contextlib.contextmanager(namespace), cluster)
    with contextlib.ExitStack() as stack:
        kubeconfig = stack.enter_context(installed(cluster, folder))
        cgroup = stack.enter_context(memory_cgroup(name))
        victim = stack.enter_context(fresh())
        scraped, found = _scraping(victim, node, folder)
        url = stack.enter_context(metrics_server(folder, [scraped]))
        _, token = kubeconfig_with_token(victim, "monitoring", folder)
        ports = {METRICS_PORT: str(free_port()), HEALTH_PORT: str(free_port())}
        environment = {
            "KUBECONFIG": str(kubeconfig),
            **ports,
            "LLMSERVICE_LOG_FORMAT": "json",
            "LLMSERVICE_LEASE_NAMESPACE": SYSTEM,
            "LLMSERVICE_PROMETHEUS_URL": url,
        }
        there = Neighbourhood(
            cluster=cluster,
            operator=Operator(environment, folder / "operator.log", command=cgroup.command),
            cgroup=cgroup,
            health=f"http://127.0.0.1:{ports[HEALTH_PORT]}/healthz",
            engines=tenants_engines,
            node=node,
            victim=victim,
            fresh=fresh,
            metrics_targets=found,
            metrics=f"https://127.0.0.1:{ports[METRICS_PORT]}/metrics",
            prometheus=url,
            token=token,
        )
        try:
            there.operator.start()
            yield there
            there.clear(victim)
        finally:
            there.stop()


@pytest.fixture
def tenants(request: pytest.FixtureRequest, neighbourhood: Neighbourhood) -> Neighbourhood:
    """All is well before a test, also when the last one has hurt the operator."""
    if not neighbourhood.is_well():
        neighbourhood.kill()
        neighbourhood.operator.start()
    neighbourhood.strict = request.config.getoption("markexpr") != "quick"
    neighbourhood.settle()
    neighbourhood.rows = []
    return neighbourhood


def _scraping(kube: Kube, node: PlayedNode, folder: Path) -> tuple[dict[str, object], Callable[[], None]]:
    """A scrape configuration for all played pods, and what writes down those there are, as a discovery does."""
    path = folder / "pods.json"
    path.write_text("[]")

    def found() -> None:
        groups = [
            {"targets": [f"{address}:{PORT}"], "labels": {"namespace": namespace, "pod": pod} | _pace(kube, namespace)}
            for (namespace, pod), address in [*node.addresses.items()]
        ]
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps(groups))
        whole.rename(path)

    discovery = {"files": [str(path)], "refresh_interval": "1s"}
    return {"file_sd_configs": [discovery], "scrape_interval": "5s", "scrape_timeout": "5s"}, found


def _pace(victim: Kube, namespace: str) -> dict[str, str]:
    """Prometheus itself is not what is tested: it reads the large pages less often."""
    seconds = "5s" if namespace == victim.namespace else "20s"
    return {"__scrape_interval__": seconds, "__scrape_timeout__": seconds}


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = {}


def pytest_report_header() -> str:
    return f"hostile tenants: SEED={SEED}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    there = getattr(item, "funcargs", {}).get("tenants")
    if report.when == "call" and there is not None:
        item.config.stash[ROWS][item.nodeid] = there.rows
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    rows = [row for told in config.stash[ROWS].values() for row in told]
    if not rows:
        return
    terminalreporter.write_line(f"SEED={SEED} on {sys.platform}\n{results.table(rows)}")
    if exitstatus == 0 and os.environ.get("WRITE_TABLE"):
        results.write(rows)
