"""The real HAProxy on the node, before the real llama.cpp: a service whose clients need keys."""

import pytest

from sandbox import Sandbox
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.images import image_names
from sandbox.progress import Progress
from sandbox.proxy_image import PROXY_IMAGE, proxy_image_build
from tests.cluster.kube import Kube
from tests.engines.proxy.clients import Clients


@pytest.fixture(scope="session")
def proxy_node(box: Sandbox) -> Sandbox:
    """The sandbox with the image of the proxy on its node."""
    archive = proxy_image_build().ensure(cache_folder(), Progress()) / ARCHIVE
    if PROXY_IMAGE not in image_names(box.cell()):
        box.load_image(archive)
    return box


@pytest.fixture
def clients(kube: Kube, proxy_node: Sandbox) -> Clients:
    """A namespace with the model and with a Secret of two keys; the service is the test's."""
    proxy_node.model_volume(kube.namespace, "models")
    made = Clients(kube)
    made.write({"team-a": "sk-alpha-1", "team-b": "sk-beta-1"})
    return made
