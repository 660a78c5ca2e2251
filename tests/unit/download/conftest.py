"""A hub with small models, and a folder to download to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice.download import downloading, hub_bytes, pieces
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Repository
from tests.unit.download.downloads import VARIABLES, llama

GGUFS = ("many-Q4_K_M", "many-Q8_0-00001-of-00002", "many-Q8_0-00002-of-00002")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalHub]:
    """Its pieces are 256 KiB here, and what fails is tried again within milliseconds."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(pieces, "PIECE", 2**18)
    monkeypatch.setattr(downloading, "_PAUSES", (0.01,))
    monkeypatch.setattr(hub_bytes, "_FIRST_PAUSE", 0.002)
    monkeypatch.setattr(hub_bytes, "_LONGEST_PAUSE", 0.01)
    ggufs = {f"{name}.gguf": os.urandom(1000) for name in GGUFS}
    repositories = {
        "meta/llama": llama(),
        "meta/gated": llama(gated="manual", token="hf_right"),  # noqa: S106  (of nobody)
        "tiny/many": Repository(files={**ggufs, "mmproj-F16.gguf": b"GGUF", "README.md": b"x"}),
        "tiny/words": Repository(files={"README.md": b"x", "config.json": b"{}"}),
    }
    with local_hub(repositories) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    claim = tmp_path / "claim"
    claim.mkdir()
    return claim
