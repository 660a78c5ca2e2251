"""The files of a model: those that are there, room for the rest, then all of the rest, some at the same time."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llmservice.download.failing import DownloadFailed, failed, first_of
from llmservice.download.one_file import Fetching
from llmservice.download.places import Layout
from llmservice.download.source import RemoteFile
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_marker import CheckedFile
from llmservice.models.sizes import in_gb


@dataclass(frozen=True, slots=True)
class AllFiles:
    """`at_once` is how many files are open. Methods raise DownloadFailed."""

    fetching: Fetching
    layout: Layout
    files: Sequence[RemoteFile]
    at_once: int

    async def fetched(self) -> list[CheckedFile]:
        """Every file in its place, checked and linked; what one of them fails with ends the others."""
        progress, place = self.fetching.progress, self.layout.place
        progress.expected, progress.files_expected = sum(file.size for file in self.files), len(self.files)
        there = {file.name: await self.fetching.complete(file, place(file)) for file in self.files}
        self._count(there)
        return await self._all(there, asyncio.Semaphore(self.at_once))

    async def _all(self, there: Mapping[str, CheckedFile | None], turns: asyncio.Semaphore) -> list[CheckedFile]:
        failure: DownloadFailed | None = None
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._alike(files, there, turns)) for files in self._by_blob()]
        except* DownloadFailed as errors:
            failure = first_of(errors)
        if failure is not None:  # raised in there, Python before 3.11.4 would wrap it in a group (gh-103590)
            raise failure
        checked = {file.name: file for task in tasks for file in task.result()}
        return [checked[file.name] for file in self.files]

    def _by_blob(self) -> Collection[list[RemoteFile]]:
        """Files with the same content are one blob."""
        found: dict[Path, list[RemoteFile]] = {}
        for file in self.files:
            found.setdefault(self.layout.place(file).blob, []).append(file)
        return found.values()

    async def _alike(
        self, files: Sequence[RemoteFile], there: Mapping[str, CheckedFile | None], turns: asyncio.Semaphore
    ) -> list[CheckedFile]:
        """One after the other: two that write the same blob would spoil it."""
        return [await self._one(file, there[file.name] or await self._come(file, files[0]), turns) for file in files]

    async def _come(self, file: RemoteFile, first: RemoteFile) -> CheckedFile | None:
        """The file where one like it has come meanwhile."""
        if file is first or not (checked := await self.fetching.complete(file, self.layout.place(file))):
            return None
        self.fetching.progress.found(file.size)
        self.fetching.progress.files_done += 1
        return checked

    async def _one(self, file: RemoteFile, checked: CheckedFile | None, turns: asyncio.Semaphore) -> CheckedFile:
        place = self.layout.place(file)
        if checked is None:
            async with turns:
                checked = await self.fetching.fetch(file, place)
            self.fetching.progress.files_done += 1
        if place.pointer and self.fetching.claim.size(place.blob) is not None:
            self.fetching.claim.link(place.pointer, place.blob)
        return checked

    def _count(self, there: Mapping[str, CheckedFile | None]) -> None:
        """What is there, and whether the rest has room."""
        progress, claim = self.fetching.progress, self.fetching.claim
        complete = [file for file in self.files if there[file.name]]
        partials = {self.layout.place(file).partial: file.size for file in self.files if not there[file.name]}
        begun = (min(claim.size(partial) or 0, size) for partial, size in partials.items())
        progress.found(sum(file.size for file in complete) + sum(begun))
        progress.files_done = len(complete)
        needed, free = progress.expected - progress.done, claim.free()
        if free is not None and free < needed:
            message = f"{in_gb(needed)} more are needed and {in_gb(free)} are free"
            raise failed(DownloadFailureReason.DISK_FULL, message, needed=needed, free=free)
