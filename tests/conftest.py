"""What tests in several folders share: the real cluster, when it is asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kube import Kube
from tests.cluster.target import Target, chosen


@pytest.fixture(scope="session")
def target() -> Target:
    """Where the tests on a real cluster run."""
    return chosen()


@pytest.fixture(scope="session")
def administrator(target: Target) -> Iterator[Kube]:
    """A client with an administrator's rights; the cluster is started if need be."""
    kube = target.connect()
    yield kube
    kube.api.rest_client.pool_manager.clear()  # an open connection would be a warning, which is an error, at the end


@pytest.fixture(scope="session")
def sandbox_kubeconfig(administrator: Kube) -> Path:
    """The kubeconfig of the cluster under test."""
    return administrator.kubeconfig
