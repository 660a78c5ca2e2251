"""The marker of a complete download: a file on the claim that says which files are there, and that they were checked.

    {"uri": "hf://org/name", "revision": "", "commit": "0e9e…", "path": "huggingface/hub/…", "folder": "huggingface/…",
     "bytes": 988097824, "seconds": 12.5, "finished": "2026-11-22T14:03:11Z",
     "files": [{"name": "config.json", "size": 660, "sha256": "…"}, …]}

Whoever can write to the claim may have written it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llmservice.models.download_answer import DownloadedModel, commit_in, is_path_on_claim
from llmservice.models.download_choice import is_safe_name
from llmservice.models.download_request import DownloadRequest
from llmservice.models.plausible import MalformedModel, json_object, limit_of

MOST_MARKER_BYTES = 16 * 2**20
"""10,000 files with names of 512 letters take 7 MB."""
MOST_FILES = 10_000
_DIGEST_LETTERS = 64


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file that is complete: its name in the model's folder, its bytes, and their SHA-256."""

    name: str
    size: int
    sha256: str
    etag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What a complete download left: `model` is its answer, `folder` holds the files, relative to the claim's root."""

    model: DownloadedModel
    folder: str
    files: tuple[CheckedFile, ...]


def marker_text(request: DownloadRequest, marker: Marker, finished: str) -> str:
    """The marker as it is written; `finished` is the time, in UTC."""
    said = {**asdict(request), **asdict(marker.model), "folder": marker.folder, "finished": finished}
    said["files"] = [asdict(file) for file in marker.files]
    return json.dumps(said, indent=1, ensure_ascii=True) + "\n"


def marker_in(text: bytes) -> Marker:
    """What a marker says; raises MalformedModel where it is none."""
    said = json_object(text, "the marker", MOST_MARKER_BYTES)
    files = tuple(_files(said))
    path, folder = said.get("path"), said.get("folder")
    if not (is_path_on_claim(path) and is_path_on_claim(folder)):
        raise MalformedModel("the marker names no path on the claim")
    size = sum(file.size for file in files)
    commit = commit_in(said)
    model = DownloadedModel(path=str(path), commit=commit, bytes=size, files=len(files), seconds=0.0)
    return Marker(model=model, folder=str(folder), files=files)


def checked_file(said: object) -> CheckedFile:
    """One file as a marker or a journal says it; raises MalformedModel."""
    if not isinstance(said, Mapping) or not is_safe_name(said.get("name")):
        raise MalformedModel("a file of the marker has no name")
    size, digest, etag = said.get("size"), said.get("sha256"), said.get("etag", "")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= limit_of("file_bytes"):
        raise MalformedModel("a file of the marker has no size")
    if not isinstance(digest, str) or len(digest) != _DIGEST_LETTERS or not isinstance(etag, str):
        raise MalformedModel("a file of the marker has no checksum")
    return CheckedFile(str(said["name"]), size, digest, etag)


def _files(said: Mapping[str, Any]) -> Iterator[CheckedFile]:
    files = said.get("files")
    if not isinstance(files, list) or not 0 < len(files) <= MOST_FILES:
        raise MalformedModel("the marker names no files")
    return map(checked_file, files)
