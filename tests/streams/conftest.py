"""A service with two slow replicas, and the operator as two processes of which one leads."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import box, cluster, namespace
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service
from tests.cluster.target import Target
from tests.ports import free_port
from tests.streams import results
from tests.streams.results import Row
from tests.streams.stage import Stage

ROWS = pytest.StashKey[dict[str, list[Row]]]()
SLOTS, CONTEXT_TOKENS = 16, 2048
TOKENS, QUICK_TOKENS = 400, 150
"""Of one of average length."""

SLOW = {"cpu": "100m", "memory": "256Mi"}
"""Held to a tenth of a core, the tiny model needs about 20 s for a stream, beside nine others."""

__all__ = ["box", "cluster"]


@pytest.fixture(scope="session")
def home(cluster: Kube, box: Sandbox) -> Iterator[Kube]:
    """The namespace of service, operator and Lease."""
    for within in namespace(cluster):
        box.model_volume(within.namespace, "models")
        yield within


@pytest.fixture(scope="session")
def operator(target: Target, home: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operator]:
    """The operator that leads at first; at the end whichever leads still runs and has logged no defect."""
    with an_operator(target, home, tmp_path_factory.mktemp("operator") / "operator.log").running() as operator:
        yield operator


def an_operator(target: Target, home: Kube, log: Path) -> Operator:
    """One that takes part in the election of this namespace."""
    ports = {name: str(free_port()) for name in ("LLMSERVICE_PROBE_PORT", "LLMSERVICE_METRICS_PORT")}
    return Operator({**target.operator_environment(), **ports, "LLMSERVICE_LEASE_NAMESPACE": home.namespace}, log)


@pytest.fixture(scope="session")
def chat(home: Kube, operator: Operator, request: pytest.FixtureRequest) -> Stage:
    """Two replicas that serve; each test leaves as many."""
    service = a_tiny_service(
        replicas=2,
        maxNumSeqs=SLOTS,
        maxModelLen=CONTEXT_TOKENS,
        drain={"timeoutSeconds": 180},
        pod={"resources": {"requests": SLOW, "limits": SLOW}},
    )
    home.create(service)
    home.wait_ready("chat")
    quick = request.config.getoption("markexpr") == "quick"
    return Stage(kube=home, operator=operator, tokens=QUICK_TOKENS if quick else TOKENS)


@pytest.fixture
def stage(chat: Stage) -> Stage:
    """The service as it was made, also when the last test has failed."""
    chat.kube.wait(lambda: chat.is_settled() or None, lambda: chat.kube.get("LLMService", "chat"), 240)
    chat.rows = []
    return chat


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    stage = getattr(item, "funcargs", {}).get("stage")
    if report.when == "call" and isinstance(stage, Stage):
        item.config.stash[ROWS][item.nodeid] = stage.rows
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    rows = [row for told in config.stash[ROWS].values() for row in told]
    if not rows:
        return
    terminalreporter.write_line(results.table(rows))
    if exitstatus == 0 and os.environ.get("WRITE_TABLE"):
        results.write(rows)
