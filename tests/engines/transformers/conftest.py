"""The node with the images of Transformers and of the proxy, and a tiny model in safetensors."""

import pytest

from sandbox import Sandbox
from sandbox.proxy_image import PROXY_IMAGE, proxy_image_build
from sandbox.tiny_llama import write_tiny_llama
from sandbox.transformers_image import TRANSFORMERS_IMAGE, transformers_image_build
from tests.engines.on_node import put_on_node

MODEL_FOLDER = "tiny-letters"


@pytest.fixture(scope="session")
def transformers_node(box: Sandbox) -> Sandbox:
    """The sandbox with images and model on its node."""
    put_on_node(box, proxy_image_build(), PROXY_IMAGE)
    put_on_node(box, transformers_image_build(), TRANSFORMERS_IMAGE)
    write_tiny_llama(box.spec.models / MODEL_FOLDER, only_letters=True)
    return box
