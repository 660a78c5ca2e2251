"""The marker of a download: what is written is read, and anything else is no marker."""

import json
from typing import Any

import pytest

from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_marker import CheckedFile, Marker, marker_in, marker_text
from llmservice.models.download_request import DownloadRequest
from llmservice.models.plausible import MalformedModel

FILES = (CheckedFile("config.json", 7, "a" * 64), CheckedFile("model.safetensors", 10**11, "b" * 64, '"etag"'))
MODEL = DownloadedModel(path="buckets/s3/m/x", commit="", bytes=10**11 + 7, files=2, seconds=0.0)
MARKER = Marker(model=MODEL, folder="buckets/s3/m/x", files=FILES)
TEXT = marker_text(DownloadRequest(uri="s3://m/x"), MARKER, "2026-11-22T14:03:11Z")


def test_a_marker_is_read_as_it_was_written() -> None:
    assert marker_in(TEXT.encode()) == MARKER
    assert json.loads(TEXT)["uri"] == "s3://m/x"


@pytest.mark.parametrize(
    "change",
    [
        {"path": "../x"},
        {"path": None},
        {"folder": "/etc"},
        {"files": []},
        {"files": "x"},
        {"files": [{"name": "../a", "size": 1, "sha256": "a" * 64}]},
        {"files": [{"name": "a", "size": -1, "sha256": "a" * 64}]},
        {"files": [{"name": "a", "size": True, "sha256": "a" * 64}]},
        {"files": [{"name": "a", "size": 1, "sha256": "a"}]},
        {"files": [None]},
        {"files": [{"name": "a", "size": 1, "sha256": "a" * 64}] * 10_001},
    ],
)
def test_what_no_download_writes_is_no_marker(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedModel):
        marker_in(json.dumps({**json.loads(TEXT), **change}).encode())


def test_a_commit_that_is_none_is_not_handed_on() -> None:
    for commit in ("x" * 5000, "../x", 7, None):
        assert marker_in(json.dumps({**json.loads(TEXT), "commit": commit}).encode()).model.commit == ""
