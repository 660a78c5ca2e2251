"""The sandbox `bench`, with the image of the bench on its node when a test asks for it."""

import pytest

from llmservice.bench.job import IMAGE
from sandbox import Sandbox
from sandbox.images import image_names
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
