"""What kopf does not tell: LLMServices that vanished during a relist, and those a silent watch never delivered."""

import asyncio
import logging
import random
from typing import Protocol

from llmservice.cluster.cache import ObjectCache, version_of
from llmservice.converging.references import Manifest, Ref, ref_of, uid_of
from llmservice.errors import OperatorError

log = logging.getLogger(__name__)

_EVERY_SECONDS = 300.0


class Lister(Protocol):
    """What the sweep asks of an API server."""

    async def list_metadata(self, kind: str, namespace: str) -> list[Manifest]:
        """All objects of a kind with nothing but their metadata."""
        ...

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        ...


async def sweep_forever(api: Lister, cache: ObjectCache, namespaces: tuple[str, ...]) -> None:
    """Sweep now and every few minutes until cancelled."""
    while True:
        for namespace in namespaces or ("",):
            try:
                await sweep(api, cache, namespace)
            except OperatorError as error:
                log.warning("sweep: %s", error)
        await asyncio.sleep(_EVERY_SECONDS * (0.9 + 0.2 * random.random()))  # noqa: S311  (spreads load)


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
