"""A real LiteLLM proxy before two real llama.cpp servers, all on loopback, by the configuration that we print."""

import contextlib
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from llmservice.cli.documents import to_yaml
from llmservice.cli.gateway_entries import configuration
from sandbox.build_llama import llama_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from sandbox.tiny_model import tiny_model
from tests.builders import an_llmservice
from tests.ports import free_port

MASTER, KEY, CONTEXT = "sk-master", "key-of-chat", 1024


@dataclass(frozen=True)
class Gateway:
    """The proxy's address, and the server of `chat`, which asks for a key."""

    address: str
    chat: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """`chat` and `small`; who asks for `chat` while it fails is answered by `small`."""
    folder = tmp_path_factory.mktemp("gateway")
    model = folder / "tiny.gguf"
    model.write_bytes(tiny_model())
    ports = {name: free_port() for name in ("chat", "small")}
    config, port = folder / "config.yaml", free_port()
    services = [_service(name, number, with_key=name == "chat") for name, number in ports.items()]
    config.write_text(to_yaml([configuration(services, {"chat": ["small"]})]))
    with contextlib.ExitStack() as stack:
        chat = stack.enter_context(
            _running(_llama(model, "chat", ports["chat"], "--api-key", KEY), folder / "chat.log")
        )
        stack.enter_context(_running(_llama(model, "small", ports["small"]), folder / "small.log"))
        keys = {"LITELLM_MASTER_KEY": MASTER, "ML_CHAT_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        words = [os.environ["LITELLM"], "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        stack.enter_context(_running(words, folder / "litellm.log", **keys))
        for name, number in ports.items():
            _wait(f"http://127.0.0.1:{number}/health", folder / f"{name}.log")
        _wait(f"http://127.0.0.1:{port}/health/liveliness", folder / "litellm.log")
        yield Gateway(f"http://127.0.0.1:{port}", chat)


def _service(name: str, port: int, *, with_key: bool) -> dict[str, object]:
    """A service as a cluster holds it, with an address on this machine."""
    auth = {"spec__auth": {"keysSecretRef": {"name": "keys"}}} if with_key else {}
    body = an_llmservice(metadata__name=name, metadata__namespace="ml", **auth)
    return {**body, "status": {"url": f"http://127.0.0.1:{port}/v1", "plan": {"maxModelLen": CONTEXT}}}


def _llama(model: Path, name: str, port: int, *more: str) -> list[str]:
    program = llama_build().ensure(cache_folder(), Progress()) / "llama-server"
    where = ("--host", "127.0.0.1", "--port", str(port))
    return [str(program), "--model", str(model), "--alias", name, *where, "--ctx-size", str(CONTEXT), *more]


@contextlib.contextmanager
def _running(words: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env=os.environ | environment)  # noqa: S603
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _wait(address: str, log: Path) -> None:
    until = time.monotonic() + 180
    while time.monotonic() < until:
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310
            if answer.status == 200:
                return
        time.sleep(0.5)
    raise AssertionError(f"{address} does not answer:\n{log.read_text(errors='replace')[-3000:]}")
