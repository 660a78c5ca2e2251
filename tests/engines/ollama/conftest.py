"""Ollama built for this machine, a registry for it, and a folder of its own for each replica."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox
from sandbox.build_ollama import ollama_build
from sandbox.cache import cache_folder
from sandbox.engine_image import ARCHIVE
from sandbox.images import image_names
from sandbox.ollama_image import OLLAMA_IMAGE, ollama_image_build
from sandbox.progress import Progress
from sandbox.proxy_image import PROXY_IMAGE, proxy_image_build
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Kube
from tests.engines.ollama.endless_model import endless_model
from tests.local_hub.certificate import self_signed
from tests.local_registry.local_registry import LocalRegistry, local_registry


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with the program."""
    return ollama_build().ensure(cache_folder(), Progress())


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """A server's side, and the authority's certificate."""
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def registry(tls: tuple[ssl.SSLContext, Path]) -> Iterator[LocalRegistry]:
    """A registry with the tiny model."""
    with local_registry({"tiny/llama:1b": tiny_model()}, tls[0]) as running:
        yield running


@pytest.fixture(scope="session")
def node(box: Sandbox, programs: Path) -> Sandbox:
    """The sandbox with the images of Ollama and of the proxy on its node."""
    for name, build in ((OLLAMA_IMAGE, ollama_image_build(programs)), (PROXY_IMAGE, proxy_image_build())):
        archive = build.ensure(cache_folder(), Progress()) / ARCHIVE
        if name not in image_names(box.cell()):
            box.load_image(archive)
    return box


@pytest.fixture
def reachable(kube: Kube, node: Sandbox, tmp_path: Path) -> Iterator[LocalRegistry]:
    """A registry that pods reach and trust, with a model whose answers are as long as they are asked for."""
    tls, authority = self_signed(tmp_path, node.bridge_address)
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "authority"}}
    kube.create({**config_map, "data": {"authority.pem": authority.read_text()}})
    with local_registry({"tiny/llama:1b": endless_model(tmp_path)}, tls, host=node.bridge_address) as running:
        yield running
