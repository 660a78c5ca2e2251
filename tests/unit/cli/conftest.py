"""A small cluster for verbs that read one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.small_cluster import SmallCluster, small_cluster


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallCluster]:
    """It runs, and $KUBECONFIG names it."""
    with small_cluster(tmp_path) as running:
        monkeypatch.setenv("KUBECONFIG", str(running.kubeconfig))
        yield running
