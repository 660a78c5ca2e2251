"""What tests in several folders share: the real cluster, when it is asked for."""

from pathlib import Path

import pytest

from tests.cluster.kube import Kube
from tests.cluster.target import Target, chosen


@pytest.fixture(scope="session")
def target() -> Target:
    """Where the tests on a real cluster run."""
    return chosen()


@pytest.fixture(scope="session")
def administrator(target: Target) -> Kube:
    """A client with an administrator's rights; the cluster is started if need be."""
    return target.connect()


@pytest.fixture(scope="session")
def sandbox_kubeconfig(administrator: Kube) -> Path:
    """The kubeconfig of the cluster under test."""
    return administrator.kubeconfig
