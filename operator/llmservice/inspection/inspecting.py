"""An inspection from beginning to end: facts or a failure, within its time."""

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from llmservice.inspection.folder import folder_of
from llmservice.inspection.hub import MAIN, HubRepository
from llmservice.inspection.hub_access import HubAccess
from llmservice.inspection.hub_cache import snapshot_in
from llmservice.inspection.hub_requests import HubRequests, hub_requests
from llmservice.inspection.model_files import InspectionFailed, ModelFiles
from llmservice.inspection.reading import facts_from
from llmservice.inspection.registry import RegistryFiles
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.models.registry_uri import RegistryUri

_AGAIN_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Inspected:
    """The facts or why there are none; `revision` is the commit that was looked at, empty outside of a hub."""

    result: ModelFacts | InspectionFailure
    revision: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a hub: the GGUF file, or which of several; within so many seconds.

    `insist` asks again while there is no route: a pod's network may be there some seconds after the pod.
    """

    file: str = ""
    quantization: str = ""
    seconds: float = 60.0
    insist: bool = False


async def inspect_repository(
    access: Callable[[], HubAccess], repository: str, ask: Question, *, revision: str = ""
) -> Inspected:
    """A model on a hub, in its time, whatever the hub does."""
    return await _in_time(
        access, repository, ask, lambda requests: HubRepository(requests, repository, revision or MAIN)
    )


async def inspect_registry(access: Callable[[], HubAccess], model: RegistryUri, ask: Question) -> Inspected:
    """A model of an Ollama registry, likewise; what the hub is told of who asks is not told to it."""

    def strangers() -> HubAccess:
        return dataclasses.replace(access(), token="")

    return await _in_time(strangers, model.model, ask, lambda requests: RegistryFiles(requests, model))


async def _in_time(
    access: Callable[[], HubAccess], name: str, ask: Question, files: Callable[[HubRequests], ModelFiles]
) -> Inspected:
    last: Inspected | None = None
    try:
        async with asyncio.timeout(ask.seconds), hub_requests(access(), ask.seconds) as requests:
            while last is None or (ask.insist and _is_unreachable(last)):
                await asyncio.sleep(0 if last is None else _AGAIN_SECONDS)
                last = await _once(files(requests), ask)
            return last
    except InspectionFailed as failed:
        return Inspected(failed.failure)
    except TimeoutError:
        message = f"{name}: the inspection was not done within {ask.seconds:g} s"
        return last or Inspected(InspectionFailure(FailureReason.NO_ROUTE, message))


async def _once(files: ModelFiles, ask: Question) -> Inspected:
    try:
        listing = await files.listing()
        return Inspected(await facts_from(files, listing, ask.file, ask.quantization), listing.revision)
    except InspectionFailed as failed:
        return Inspected(failed.failure)


def _is_unreachable(inspected: Inspected) -> bool:
    result = inspected.result
    return isinstance(result, InspectionFailure) and result.reason is FailureReason.NO_ROUTE


async def inspect_hub_cache(cache: Path, root: Path, repository: str, ask: Question, revision: str) -> Inspected:
    """A repository in a cache of the hub, such as one on a claim; no link is followed out of `root`."""
    try:
        snapshot = snapshot_in(cache, repository, revision)
    except InspectionFailed as failed:
        return Inspected(failed.failure)
    found = await inspect_folder(snapshot, root, file=ask.file, quantization=ask.quantization)
    return Inspected(found.result, snapshot.name)


async def inspect_folder(path: Path, root: Path, *, file: str = "", quantization: str = "") -> Inspected:
    """A model in a folder, or a GGUF file; no link is followed out of `root`. Takes as long as the disk does."""
    try:
        folder, named = folder_of(path, root)
        return Inspected(await facts_from(folder, await folder.listing(), named or file, quantization))
    except InspectionFailed as failed:
        return Inspected(failed.failure)
