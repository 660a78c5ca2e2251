"""A download from beginning to end: the marker, the lock, the list, the files, the links, and the marker again."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from llmservice.download.all_files import AllFiles
from llmservice.download.choosing import chosen
from llmservice.download.claim import Claim
from llmservice.download.failing import DownloadFailed, failed
from llmservice.download.journal import Journal
from llmservice.download.lock import Lock, lock_lost
from llmservice.download.one_file import Fetching
from llmservice.download.places import BucketLayout, HubLayout, Layout
from llmservice.download.progress import Progress
from llmservice.download.source import Remote, RemoteFile, Source
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_choice import GGUF
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_layout import HUB_SCHEME, bucket_folder, hub_folder, scheme_of
from llmservice.models.download_marker import MOST_MARKER_BYTES, CheckedFile, Marker, marker_in, marker_text
from llmservice.models.download_request import MARKERS_FOLDER, DownloadRequest
from llmservice.models.plausible import MalformedModel

_PAUSES = (1.0, 3.0, 6.0, 12.0)
Opened = Callable[[], AbstractAsyncContextManager[Source]]
"""Connects to where the model is; raises DownloadFailed."""


@dataclass(slots=True)
class Download:
    """One model to one claim. `tell` takes sentences for the log; `files_at_once` is how many files are open."""

    request: DownloadRequest
    claim: Claim
    progress: Progress
    tell: Callable[[str], object]
    files_at_once: int = 8
    _lost: bool = field(default=False, init=False)

    async def run(self, opened: Opened) -> DownloadedModel:
        """The model that is on the claim; raises DownloadFailed. What came stays there, whatever happens."""
        if found := self.on_claim():
            return found
        task = asyncio.current_task()

        def lost() -> None:
            self._lost = True
            if task:
                task.cancel()

        try:
            async with self._lock().held(lost, lambda: self.tell("waiting for another download of this model")):
                return self.on_claim() or await self._all(opened)
        except asyncio.CancelledError:
            if self._lost:
                raise lock_lost() from None
            raise

    def on_claim(self) -> DownloadedModel | None:
        """The model where its marker is there and every file with its size; nobody is asked."""
        text = self.claim.small(self.claim.path(self.request.marker), MOST_MARKER_BYTES)
        try:
            marker = marker_in(text) if text else None
        except MalformedModel:
            return None
        if marker is None or not all(self._is_there(marker, file) for file in marker.files):
            return None
        self.progress.done = self.progress.expected = marker.model.bytes
        self.progress.files_done = self.progress.files_expected = marker.model.files
        return marker.model

    def _is_there(self, marker: Marker, file: CheckedFile) -> bool:
        return self.claim.size(self.claim.root / marker.folder / file.name) == file.size

    async def _all(self, opened: Opened) -> DownloadedModel:
        began = asyncio.get_running_loop().time()
        async with opened() as source:
            remote = await self._listed(source)
            files = await chosen(source, remote, self.request)
            layout = self._layout(remote)
            checked = await self._fetched(source, layout, files)
        layout.name_revision()
        path = f"{layout.folder}/{files[0].name}" if self.request.format == GGUF else layout.folder
        seconds = round(asyncio.get_running_loop().time() - began, 1)
        size = sum(file.size for file in checked)
        model = DownloadedModel(path=path, commit=remote.commit, bytes=size, files=len(checked), seconds=seconds)
        self._mark(Marker(model=model, folder=layout.folder, files=tuple(checked)))
        return model

    async def _listed(self, source: Source) -> Remote:
        """Asked again while there is no route: a pod's network may be there some seconds after the pod."""
        for pause in _PAUSES:
            try:
                return await source.listing()
            except DownloadFailed as error:
                if error.failure.reason is not DownloadFailureReason.NO_ROUTE:
                    raise
                self.progress.errors += 1
                await asyncio.sleep(pause)
        return await source.listing()

    async def _fetched(self, source: Source, layout: Layout, files: Sequence[RemoteFile]) -> list[CheckedFile]:
        """Every file in its place, and linked."""
        journal = Journal(self.claim, self.claim.path(f"{MARKERS_FOLDER}/{self.request.key}.files"))
        journal.read()
        fetching = Fetching(source, self.claim, journal, self.progress)
        checked = await AllFiles(fetching, layout, files, self.files_at_once).fetched()
        journal.remove()
        return checked

    def _mark(self, marker: Marker) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.claim.write_whole(self.claim.path(self.request.marker), marker_text(self.request, marker, now))

    def _layout(self, remote: Remote) -> Layout:
        if scheme_of(self.request.uri) == HUB_SCHEME:
            return HubLayout(self.claim, self.request, remote.commit)
        return BucketLayout(self.claim, self.request)

    def _lock(self) -> Lock:
        """One for all downloads into the same folder: they share its files."""
        is_hub = scheme_of(self.request.uri) == HUB_SCHEME
        folder = hub_folder(self.request.uri) if is_hub else bucket_folder(self.request.uri)
        name = hashlib.blake2b(folder.encode(), digest_size=10).hexdigest()
        return Lock(self.claim, self.claim.path(f"{MARKERS_FOLDER}/{name}.lock"))


def claim_at(root: Path) -> Claim:
    """The claim that is mounted there; raises DownloadFailed where there is no folder."""
    if not root.is_dir():
        raise failed(DownloadFailureReason.NOT_WRITABLE, f"{root} is no folder: mount the claim there")
    return Claim(root)
