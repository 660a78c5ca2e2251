"""A real llama.cpp on a core of its own, with a random model that takes time."""

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.build_llama import llama_build
from sandbox.cache import cache_folder
from sandbox.progress import Progress
from sandbox.tiny_model import Sizes, write_model

SLOTS = 4
SIZES = Sizes(layers=8, width=512, heads=8, kv_heads=4, feed_forward=1408)
"""24 million parameters: about 10 ms a token on one core."""

ENGINE_CORE, GENERATOR_CORE = 0, 1
_CONTEXT_TOKENS = 8192
_START_SECONDS = 60


@contextmanager
def engine(folder: Path) -> Iterator[str]:
    """Its base URL while the block lasts; its log is in the folder."""
    model = folder / "model.gguf"
    write_model(model, SIZES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = llama_build().ensure(cache_folder(), Progress()) / "llama-server"
    options = {
        "--model": model,
        "--host": "127.0.0.1",
        "--port": port,
        "--threads": 1,
        "--threads-batch": 1,
        "--parallel": SLOTS,
        "--ctx-size": _CONTEXT_TOKENS,
        "--alias": "chat",
    }
    arguments = [str(each) for option in options.items() for each in option]
    with (folder / "engine.log").open("wb") as log:
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log, preexec_fn=_alone)  # noqa: PLW1509
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _alone() -> None:
    """On its core, and before whatever else would run there, where that is allowed."""
    os.sched_setaffinity(0, {ENGINE_CORE})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError), urllib.request.urlopen(f"{url}/health"):  # noqa: S310
            return
        time.sleep(0.2)
    raise RuntimeError("llama-server does not answer: see engine.log")
