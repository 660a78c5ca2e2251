"""The operator behind a proxy that lets things go wrong, on the real API server."""

import contextlib
import functools
import json
import ssl
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import cluster, namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.faults.proxy import FaultProxy
from tests.faults.results import Results
from tests.faults.trial import Trial
from tests.ports import free_port

RESULTS = pytest.StashKey[Results]()

__all__ = ["cluster"]


@pytest.fixture(scope="session")
def proxy(cluster: Kube) -> Iterator[FaultProxy]:
    """Before the API server, with the administrator's credentials."""
    configuration = cluster.api.configuration
    tls = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        tls.load_cert_chain(configuration.cert_file, configuration.key_file)
    with FaultProxy(upstream=configuration.host, tls=tls) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def operator(proxy: FaultProxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """The operator, sent to the proxy; at the end it still runs and has logged no defect."""
    folder: Path = tmp_path_factory.mktemp("operator")
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(_kubeconfig(proxy.url)))
    environment = {"KUBECONFIG": str(kubeconfig), "LLMSERVICE_PROBE_PORT": str(free_port())}
    with Operator(environment, folder / "operator.log").running() as operator:
        yield operator
        proxy.heal()


@pytest.fixture(scope="session")
def trials(cluster: Kube, proxy: FaultProxy, operator: Operator) -> Trial:
    """All trials of the session: clean runs are made once."""
    return Trial(proxy, operator, functools.partial(contextlib.contextmanager(namespace), cluster))


@pytest.fixture
def trial(trials: Trial) -> Iterator[Trial]:
    """The trials, with nothing wrong before and after, also when the last one failed."""
    trials.proxy.heal()
    if not trials.is_healthy():
        trials.restart()
    trials.rows = []
    yield trials
    trials.proxy.heal()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RESULTS] = Results.kept()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What passed with this very code is not run again, and that is said."""
    passed = config.stash[RESULTS].passed
    done = [item for item in items if item.nodeid in passed]
    if done:
        print(f"\n{len(done)} tests passed before with this code and are left out")  # noqa: T201
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item.nodeid not in passed]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    trial = getattr(item, "funcargs", {}).get("trial")
    if report.when == "call" and report.passed and isinstance(trial, Trial):
        item.config.stash[RESULTS].add(item.nodeid, trial.rows)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    results = config.stash[RESULTS]
    if results.passed:
        terminalreporter.write_line(f"from the end of a fault to the end of a clean run\n{results.table()}")


def _kubeconfig(server: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "faults", "cluster": {"server": server}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "faults", "context": {"cluster": "faults", "user": "nobody"}}],
        "current-context": "faults",
    }
