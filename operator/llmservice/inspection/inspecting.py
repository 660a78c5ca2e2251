"""An inspection from beginning to end: facts or a failure, within its time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from llmservice.inspection.folder import folder_of
from llmservice.inspection.hub import MAIN, HubRepository
from llmservice.inspection.hub_access import HubAccess
from llmservice.inspection.hub_requests import hub_requests
from llmservice.inspection.model_files import InspectionFailed
from llmservice.inspection.reading import facts_from
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts


@dataclass(frozen=True, slots=True)
class Inspected:
    """The facts or why there are none; `revision` is the commit that was looked at, empty outside of a hub."""

    result: ModelFacts | InspectionFailure
    revision: str = ""


async def inspect_repository(
    access: Callable[[], HubAccess], repository: str, *, revision: str = "", file: str = "", seconds: float = 60.0
) -> Inspected:
    """A model on a hub, in so many seconds at most, whatever the hub does."""
    try:
        async with asyncio.timeout(seconds), hub_requests(access(), seconds) as requests:
            hub = HubRepository(requests, repository, revision or MAIN)
            listing = await hub.listing()
            return Inspected(await facts_from(hub, listing, file), listing.revision)
    except InspectionFailed as failed:
        return Inspected(failed.failure)
    except TimeoutError:
        message = f"{repository}: the inspection was not done within {seconds:g} s"
        return Inspected(InspectionFailure(FailureReason.NO_ROUTE, message))


async def inspect_folder(path: Path, root: Path, *, file: str = "") -> Inspected:
    """A model in a folder, or a GGUF file; no link is followed out of `root`. Takes as long as the disk does."""
    try:
        folder, named = folder_of(path, root)
        return Inspected(await facts_from(folder, await folder.listing(), named or file))
    except InspectionFailed as failed:
        return Inspected(failed.failure)
