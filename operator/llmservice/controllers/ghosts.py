"""What no watch tells: LLMServices that vanished while kopf listed, and whatever a watch lost without a word."""

import asyncio
import logging
import random
from typing import Protocol

from llmservice.cluster.cache import SERVICE_LABEL, ObjectCache, version_of
from llmservice.converging.references import Manifest, Ref, ref_of, uid_of
from llmservice.errors import OperatorError
from llmservice.rendering.manifests import CHILD_KINDS

log = logging.getLogger(__name__)

_SELECTORS = {"LLMService": "", **dict.fromkeys((*CHILD_KINDS, "ReplicaSet", "Pod"), SERVICE_LABEL)}
"""The kinds that are watched, with the labels they are watched by."""

_EVERY_SECONDS = 300.0
_AGAIN_SECONDS = 10.0
_SETTLE_SECONDS = 1.0
"""Time for kopf to tell what it lists, so that the sweep need not fetch it, and for several wishes to become one."""


class Lister(Protocol):
    """What the sweep asks of an API server."""

    async def list_metadata(self, kind: str, namespace: str, *, label_selector: str) -> list[Manifest]:
        """All selected objects of a kind with nothing but their metadata."""
        ...

    async def get(self, ref: Ref) -> Manifest | None:
        """The live object; None when it is not there."""
        ...


async def sweep_forever(
    api: Lister, cache: ObjectCache, namespaces: tuple[str, ...], wanted: asyncio.Event | None = None
) -> None:
    """Sweep now, soon after `wanted` is set, and every few minutes; sooner again where it failed; until cancelled."""
    wanted, told = wanted or asyncio.Event(), dict[str, str]()
    due = everywhere = namespaces or ("",)
    now = asyncio.get_running_loop().time
    while True:
        wanted.clear()
        if due == everywhere:
            all_again_at = now() + _about(_EVERY_SECONDS)
        failed = tuple([namespace for namespace in due if not await _swept(api, cache, namespace, told)])
        pause = all_again_at - now()
        try:
            # Not wait_for: that of Python 3.11 loses the cancellation that comes together with the event.
            async with asyncio.timeout(min(pause, _about(_AGAIN_SECONDS)) if failed else pause):
                await wanted.wait()
            await asyncio.sleep(_SETTLE_SECONDS)
            due = everywhere
        except TimeoutError:
            due = failed if now() < all_again_at else everywhere


async def _swept(api: Lister, cache: ObjectCache, namespace: str, told: dict[str, str]) -> bool:
    """Sweep; a failure is told once, until it is another one."""
    try:
        await sweep(api, cache, namespace)
    except OperatorError as error:
        if told.get(namespace) != str(error):
            log.warning("sweep of %s: %s", namespace or "all namespaces", error)
        told[namespace] = str(error)
        return False
    told.pop(namespace, None)
    return True


def _about(seconds: float) -> float:
    return seconds * (0.9 + 0.2 * random.random())  # noqa: S311  (spreads load; nothing secret)


async def sweep(api: Lister, cache: ObjectCache, namespace: str) -> None:
    """Compare the cache with metadata-only lists: forget what is gone, fetch what is unknown or newer."""
    for kind, selector in _SELECTORS.items():
        known = {ref_of(body): body for body in cache.of_kind(kind, namespace)}
        listed = {ref_of(item): item for item in await api.list_metadata(kind, namespace, label_selector=selector)}
        for ref, body in known.items():
            if ref not in listed or uid_of(listed[ref]) != uid_of(body):
                _forget(cache, ref, body)
        for ref, item in listed.items():
            await _fetch_if_newer(api, cache, ref, item)


def _forget(cache: ObjectCache, ref: Ref, body: Manifest) -> None:
    if cache.drop(ref, version_of(body)):
        log.info("%s is gone: forgotten", ref)


async def _fetch_if_newer(api: Lister, cache: ObjectCache, ref: Ref, item: Manifest) -> None:
    """Unless the watch was faster by now."""
    known = cache.get(ref)
    if known is None or version_of(item) > version_of(known):
        live = item if ref.kind == "ReplicaSet" else await api.get(ref)  # of those only metadata is kept
        if live is not None:
            cache.put(live)
