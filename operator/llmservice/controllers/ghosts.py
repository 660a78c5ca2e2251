"""What kopf does not tell: LLMServices that vanished during a relist, and those a silent watch never delivered."""

import asyncio
import contextlib
import logging
import random
from typing import Protocol

from llmservice.cluster.cache import ObjectCache, version_of
from llmservice.converging.references import Manifest, Ref, ref_of, uid_of
from llmservice.errors import OperatorError

log = logging.getLogger(__name__)

_EVERY_SECONDS = 300.0
_AGAIN_SECONDS = 10.0
_SETTLE_SECONDS = 1.0
"""Time for kopf to tell what it lists, so that the sweep need not fetch it, and for several wishes to become one."""


class Lister(Protocol):
    """What the sweep asks of an API server."""

    async def list_metadata(self, kind: str, namespace: str) -> list[Manifest]:
        """All objects of a kind with nothing but their metadata."""
        ...

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        ...


async def sweep_forever(
    api: Lister, cache: ObjectCache, namespaces: tuple[str, ...], wanted: asyncio.Event | None = None
) -> None:
    """Sweep now, soon after `wanted` is set, and every few minutes; until cancelled."""
    wanted = wanted or asyncio.Event()
    while True:
        wanted.clear()
        swept = [await _swept(api, cache, namespace) for namespace in namespaces or ("",)]
        pause = _EVERY_SECONDS if all(swept) else _AGAIN_SECONDS
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(wanted.wait(), pause * (0.9 + 0.2 * random.random()))  # noqa: S311  (spreads load)
            await asyncio.sleep(_SETTLE_SECONDS)


async def _swept(api: Lister, cache: ObjectCache, namespace: str) -> bool:
    try:
        await sweep(api, cache, namespace)
    except OperatorError as error:
        log.warning("sweep: %s", error)
        return False
    return True


async def sweep(api: Lister, cache: ObjectCache, namespace: str) -> None:
    """Compare the cache with a metadata-only list: forget what is gone, fetch what is unknown or newer."""
    known = {ref_of(body): body for body in cache.of_kind("LLMService", namespace)}
    listed = {ref_of(item): item for item in await api.list_metadata("LLMService", namespace)}
    for ref, body in known.items():
        if ref not in listed or uid_of(listed[ref]) != uid_of(body):
            log.info("%s is gone: forgotten", ref)
            cache.drop(ref, version_of(body))
    for ref, item in listed.items():
        if ref not in known or version_of(item) > version_of(known[ref]):
            live = await api.get(ref)
            if live is not None:
                cache.put(live)
