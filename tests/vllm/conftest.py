"""A sandbox whose node has the image of vLLM and a model for it, and one service that all tests may ask."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.images import image_names
from sandbox.progress import Progress
from sandbox.tiny_llama import write_tiny_llama
from sandbox.vllm_image import VLLM_IMAGE, vllm_image_build
from tests.cluster.conftest import box, cluster, kube, namespace, operator
from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.vllm.services import MODEL_FOLDER, a_vllm_service

__all__ = ["box", "cluster", "kube", "operator"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "vllm: needs the image of the real vLLM, 6 GB: `make test-vllm`")


@pytest.fixture(scope="session")
def vllm_node(box: Sandbox) -> Sandbox:
    """The sandbox with image and model on its node."""
    archive = vllm_image_build().ensure(cache_folder(), Progress()) / ARCHIVE
    if VLLM_IMAGE not in image_names(box.cell()):
        box.load_image(archive)
    write_tiny_llama(box.spec.models / MODEL_FOLDER)
    return box


@pytest.fixture(scope="session")
def chat(cluster: Kube, operator: Operator, vllm_node: Sandbox) -> Iterator[Kube]:  # noqa: ARG001
    """A namespace with the LLMService `chat`, ready."""
    for within in namespace(cluster):
        vllm_node.model_volume(within.namespace, "models")
        within.create(a_vllm_service())
        within.wait_ready("chat", seconds=600)
        yield within
