"""Models for the local hub, and a download in this process or in one of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmservice.download.progress import Progress
from llmservice.download.running import Bounds, downloaded
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_failure import DownloadFailure
from llmservice.models.download_request import DownloadRequest
from tests.local_hub.repository import Repository

VARIABLES = (
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)
FIRST, SECOND = (f"model-0000{number}-of-00002.safetensors" for number in (1, 2))
INDEX = json.dumps({"weight_map": {"a": FIRST, "b": SECOND}}).encode()
LOADED = {
    *("config.json", "tokenizer.json", "tokenizer.model.v3", "chat_template.jinja", "modeling.py"),
    *(FIRST, SECOND, "model.safetensors.index.json", "1_Pooling/config.json"),
}
LEFT_OUT = {
    *("README.md", "pytorch_model.bin", "consolidated.safetensors", "original/consolidated.00.pth", "onnx/model.onnx"),
    *("model-Q4_K_M.gguf", "unindexed.safetensors", ".gitattributes", "photo.png"),
}
LLAMA = DownloadRequest(uri="hf://meta/llama")


def llama(size: int = 3_000_000, **more: Any) -> Repository:
    """A model in two files of weights, with everything that people put beside one."""
    files = {name: f"{name}\n".encode() for name in (*LOADED, *LEFT_OUT)}
    weights = {FIRST: os.urandom(size), SECOND: os.urandom(size // 2 + 1)}
    return Repository(files={**files, "model.safetensors.index.json": INDEX, **weights}, **more)


async def download(
    root: Path, request: DownloadRequest = LLAMA, progress: Progress | None = None, **bounds: Any
) -> DownloadedModel | DownloadFailure:
    """In this process; `bounds` are those of Bounds."""
    return await downloaded(request, root, Bounds(**{"seconds": 60.0, **bounds}), progress or Progress(), print)


async def model(root: Path, request: DownloadRequest = LLAMA, **bounds: Any) -> DownloadedModel:
    """A download that succeeds."""
    result = await download(root, request, **bounds)
    assert isinstance(result, DownloadedModel), result
    return result


async def failure(root: Path, request: DownloadRequest = LLAMA, **bounds: Any) -> DownloadFailure:
    """A download that does not."""
    result = await download(root, request, **bounds)
    assert isinstance(result, DownloadFailure), result
    return result


def marker(root: Path, request: DownloadRequest = LLAMA) -> Any:
    """What the marker says; None without one."""
    path = root / request.marker
    return json.loads(path.read_text()) if path.exists() else None


def files_in(folder: Path) -> set[str]:
    """Names of the files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True, slots=True)
class Started:
    """`llmservice download` in a process of its own."""

    process: subprocess.Popen[str]

    def end(self, seconds: float = 30.0) -> tuple[int, str, str]:
        """Its exit code and what it wrote."""
        out, error = self.process.communicate(timeout=seconds)
        return self.process.returncode, out, error


def started(root: Path, uri: str = LLAMA.uri, *more: str) -> Started:
    """With the environment of this process."""
    command = [sys.executable, "-m", "llmservice", "download", uri, "--root", str(root), *more]
    return Started(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))  # noqa: S603
