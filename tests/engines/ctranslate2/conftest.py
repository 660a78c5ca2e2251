"""The node with the image of the project's server for CTranslate2, and a tiny model in its format."""

import pytest

from sandbox import Sandbox
from sandbox.ctranslate2_image import CTRANSLATE2_IMAGE, ctranslate2_image_build
from sandbox.tiny_ctranslate2 import write_tiny_ctranslate2
from tests.engines.on_node import put_on_node

MODEL_FOLDER = "tiny-ctranslate2"


@pytest.fixture(scope="session")
def ctranslate2_node(box: Sandbox) -> Sandbox:
    """The sandbox with image and model on its node."""
    put_on_node(box, ctranslate2_image_build(), CTRANSLATE2_IMAGE)
    write_tiny_ctranslate2(box.spec.models / MODEL_FOLDER)
    return box
