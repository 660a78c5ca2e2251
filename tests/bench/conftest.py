"""The sandbox `bench`, with the image of the bench on its node when a test asks for it."""

import pytest

from llmservice.bench.job import IMAGE
from sandbox import Sandbox
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.images import image_names
from sandbox.progress import Progress
from sandbox.proxy_image import PROXY_IMAGE, proxy_image_build
from tests.bench.calling import Bench
from tests.cluster.bench_image import bench_archive
from tests.cluster.conftest import box, cluster, kube, models, operator
from tests.cluster.kube import Kube
from tests.cluster.target import Target

__all__ = ["box", "cluster", "kube", "models", "operator"]


@pytest.fixture
def bench(target: Target, kube: Kube) -> Bench:
    """The command, on this machine."""
    return Bench(target, kube)


@pytest.fixture(scope="session")
def bench_image(box: Sandbox) -> str:
    """Built from its Dockerfile and loaded, anew in each session: its name stays the same when sources change."""
    box.load_image(bench_archive())
    assert IMAGE in image_names(box.cell())
    return IMAGE


@pytest.fixture(scope="session")
def proxy_image(box: Sandbox) -> str:
    """HAProxy, which asks clients for keys, on the node."""
    if PROXY_IMAGE not in image_names(box.cell()):
        box.load_image(proxy_image_build().ensure(cache_folder(), Progress()) / ARCHIVE)
    return PROXY_IMAGE
