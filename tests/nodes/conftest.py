"""A cluster with the operator, the real controller of LeaderWorkerSets, and the image of the played engine."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.progress import Progress
from tests.cluster.conftest import box, cluster, kube, operator
from tests.cluster.kube import Kube
from tests.nodes import controller
from tests.nodes.played import played_image

__all__ = ["box", "cluster", "kube", "operator"]


@pytest.fixture(scope="session")
def image(box: Sandbox) -> None:
    """The played engine, where pods find it."""
    box.load_image(played_image().ensure(cache_folder(), Progress()) / ARCHIVE)


@pytest.fixture(scope="session")
def groups(
    box: Sandbox,
    cluster: Kube,
    image: None,  # noqa: ARG001  (pods need it)
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    """LeaderWorkerSets: the kind, and who makes groups of them."""
    folder = tmp_path_factory.mktemp("lws")
    with controller.crds(cluster), controller.running(cluster, box, folder):
        yield
