"""Where the files of a model are put on a claim: as huggingface_hub keeps them, or as they lie in the bucket."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from llmservice.download.claim import Claim
from llmservice.download.source import RemoteFile
from llmservice.models.download_layout import bucket_folder, hub_folder, snapshot_folder
from llmservice.models.download_request import DownloadRequest

_MAIN = "main"


@dataclass(frozen=True, slots=True)
class Place:
    """A file on its way: written to `partial`, renamed to `blob` when it was checked, linked from `pointer`."""

    partial: Path
    blob: Path
    pointer: Path | None = None

    @property
    def found_at(self) -> tuple[Path, ...]:
        """Where the complete file may be. Without links in the file system it is at the pointer itself."""
        return (self.blob, self.pointer) if self.pointer else (self.blob,)


class Layout(Protocol):
    """How files are named. `folder` is what the engine loads, relative to the claim's root."""

    @property
    def folder(self) -> str:
        """The folder with the model's files under their own names."""
        ...

    def place(self, file: RemoteFile) -> Place:
        """The paths of a file; raises DownloadFailed when one leads out of the claim."""
        ...

    def name_revision(self) -> None:
        """Let the revision's name lead to the files; raises DownloadFailed."""
        ...


@dataclass(frozen=True, slots=True)
class HubLayout:
    """blobs/DIGEST, snapshots/COMMIT/NAME → blob, refs/REVISION (huggingface_hub, file_download.py)."""

    claim: Claim
    request: DownloadRequest
    commit: str

    @property
    def folder(self) -> str:
        """The snapshot of the commit."""
        return snapshot_folder(self.request.uri, self.commit)

    def place(self, file: RemoteFile) -> Place:
        """A blob is named by the hub's digest of it; of a file without one, by a digest of what is told of it."""
        digest = file.sha256 or file.git or _digest(self.commit, file.name, str(file.size))
        blob = self.claim.path(f"{hub_folder(self.request.uri)}/blobs/{digest}")
        pointer = self.claim.path(f"{self.folder}/{file.name}")
        return Place(blob.with_name(f"{digest}.incomplete"), blob, pointer)

    def name_revision(self) -> None:
        """Engines that are offline look a revision up by its name; `main` where none is given."""
        revision = self.request.revision or _MAIN
        if revision != self.commit:
            self.claim.write_whole(self.claim.path(f"{hub_folder(self.request.uri)}/refs/{revision}"), self.commit)


@dataclass(frozen=True, slots=True)
class BucketLayout:
    """Files under their own names. A file that is not complete has a name of its own for each version of the object."""

    claim: Claim
    request: DownloadRequest

    @property
    def folder(self) -> str:
        """The bucket's folder."""
        return bucket_folder(self.request.uri)

    def place(self, file: RemoteFile) -> Place:
        """Beside each other, so that the rename stays in one folder."""
        path = self.claim.path(f"{self.folder}/{file.name}")
        version = _digest(self.request.key, file.etag, str(file.size))[:16]
        return Place(path.with_name(f".{path.name}.{version}.incomplete"), path)

    def name_revision(self) -> None:
        """A bucket has none."""


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
