"""Ollama built for this machine, a registry for it, and a folder of its own for each replica."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.build_ollama import ollama_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from sandbox.tiny_model import tiny_model
from tests.engines.ollama.local_registry import LocalRegistry, local_registry
from tests.local_hub.certificate import self_signed


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
